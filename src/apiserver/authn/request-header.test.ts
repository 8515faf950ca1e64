import https from 'node:https';
import { afterEach, describe, expect, test } from 'vitest';
import type { KeyPair } from '#base';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { newAuthority, newCertificate } from '../aggregation/extension-server.test-data.ts';
import { startApiServer } from '../server.ts';
import { clientCertificates } from './client-certificates.ts';
import { requestHeaders } from './request-header.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of opened.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

const clients = newAuthority('clients');
const proxies = newAuthority('proxies');
/** Of the same name as the other, with another key. */
const impostors = newAuthority('proxies');

/** A server that responds with the authenticated user. */
async function serve() {
  const store = openMemoryStore({ clock: realClock });
  opened.push({ [Symbol.asyncDispose]: async () => void (await store.close()) });
  const config = {
    authorities: () => proxies.certificate,
    allowedNames: ['front-proxy'],
    usernameHeaders: ['X-Remote-User', 'X-Other-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  };
  const ca = [clients.certificate, proxies.certificate];
  let seen: unknown;
  const server = startApiServer(
    { version: {}, anonymousAuth: true, systemObjects: false, listen: { host: '127.0.0.1', port: 0, tls: { ...LOOPBACK_TLS, ca } } },
    {
      ...{ store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() },
      authenticators: [requestHeaders(config), clientCertificates(realClock, () => clients.certificate)],
      authorizer: {
        authorize: ({ user }) => {
          seen = user;
          return { verdict: 'allow', reason: '' };
        },
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
    },
  );
  opened.push(server);
  await server.ready;
  return async (pair: KeyPair | undefined, headers: Record<string, string | string[]>) => {
    seen = undefined;
    const code = await new Promise<number | undefined>((resolve, reject) => {
      const tls = pair && { cert: pair.certificate, key: pair.key };
      const options = { host: '127.0.0.1', port: server.port, path: '/version', headers, rejectUnauthorized: false, agent: false, ...tls };
      https.get(options as https.RequestOptions, (response) => resolve(response.resume().statusCode)).once('error', reject);
    });
    return { code, user: seen };
  };
}

const client = (commonName: string, authority: KeyPair) => newCertificate({ commonName, purpose: 'clientAuth' }, authority);
const HEADERS = {
  'x-remote-user': 'jane',
  'x-remote-uid': '7',
  'x-remote-group': ['a', 'b'],
  'x-remote-extra-example.com%2fteam': 'fruit',
};

describe('headers about the user', () => {
  test('are used from a front proxy', async () => {
    const ask = await serve();
    expect(await ask(client('front-proxy', proxies), HEADERS)).toEqual({
      code: 200,
      user: { name: 'jane', uid: '7', groups: ['a', 'b', 'system:authenticated'], extra: { 'example.com/team': ['fruit'] } },
    });
    expect(await ask(client('front-proxy', proxies), { 'x-other-user': 'joe' })).toMatchObject({ user: { name: 'joe' } });
  });

  test.each([
    ['nobody', undefined, 200, 'system:anonymous'],
    ['a client of the same name', client('front-proxy', clients), 200, 'front-proxy'],
    ['a front proxy that is not on the list', client('other', proxies), 401, undefined],
    ['an authority that only has the name', client('front-proxy', impostors), 401, undefined],
  ])('do not count from %s', async (_, pair, code, name) => {
    const ask = await serve();
    const answer = await ask(pair, HEADERS);
    expect([answer.code, (answer.user as { name: string } | undefined)?.name]).toEqual([code, name]);
  });

  test('that are missing leave a front proxy unauthenticated', async () => {
    const ask = await serve();
    expect(await ask(client('front-proxy', proxies), {})).toMatchObject({ user: { name: 'system:anonymous' } });
  });
});
