import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createAuthority,
  loadAuthority,
  MetricsRegistry,
  newPrivateKey,
  privateKeyPem,
  realClock,
  seededRandom,
  signCertificate,
  silentLogger,
} from '#base';
import { Client } from '../client.ts';
import type { Transport } from '../transport.ts';
import { type ComponentServer, startComponentServer } from './component-server.ts';

const DAY_MS = 86_400_000;
const random = seededRandom(1);
const validity = { notBefore: realClock.now() - DAY_MS, notAfter: realClock.now() + DAY_MS };
const authority = createAuthority({ subject: { commonName: 'ca' }, ...validity }, random);

function pair(commonName: string): { cert: string; key: string } {
  const key = newPrivateKey();
  const template = { subject: { commonName }, publicKey: createPublicKey(key), ...validity, ipAddresses: ['127.0.0.1'] };
  return { cert: signCertificate(template, loadAuthority(authority), random), key: privateKeyPem(key) };
}

/** An API server that knows one token, whose user may read. */
const reviews = {
  isLocal: true,
  request: async ({ body }: { body: { spec: { token?: string; user?: string } } }) => {
    const { token, user } = body.spec;
    const status =
      token === undefined ? { allowed: user === 'prometheus' } : { authenticated: token === 'good', user: { username: 'prometheus' } };
    return { metadata: { name: '' }, status };
  },
} as unknown as Transport;

const [alice, prometheus] = [pair('alice'), pair('prometheus')];
const problems = new Map<string, string>();
let server: ComponentServer;

beforeAll(async () => {
  const metrics = new MetricsRegistry();
  metrics.counter({ name: 'things_total', help: 'Things.' }).with({}).inc();
  const config = {
    ...{ name: 'kube-scheduler', host: '127.0.0.1', port: 0 },
    tls: { ...pair('server'), clientCa: authority.certificate },
  };
  const deps = {
    ...{ client: new Client(reviews), clock: realClock, logger: silentLogger, metrics, version: 'v1' },
    checks: { leaderElection: () => problems.get('leaderElection') },
    configuration: () => ({ 'kubescheduler.config.k8s.io': { parallelism: 16 } }),
    flags: () => new Map([['leader-elect', 'true']]),
  };
  server = startComponentServer(config, deps);
  await server.ready;
});
afterAll(() => server[Symbol.asyncDispose]());

interface RequestCase {
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly method?: string;
}

function ask(path: string, { token, certificate, method = 'GET' }: RequestCase = {}): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const options = {
      host: '127.0.0.1',
      port: server.port,
      path,
      method,
      agent: false,
      headers,
      ca: authority.certificate,
      ...certificate,
    };
    const sent = request(options, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ code: response.statusCode ?? 0, text });
    });
    sent.on('error', reject).end();
  });
}

test.each([
  ['/healthz', {}, 200, 'ok'],
  ['/livez', {}, 200, 'ok'],
  ['/readyz', {}, 200, 'ok'],
  ['/healthz', { token: 'bad' }, 401, 'Unauthorized'],
  ['/metrics', {}, 403, 'User "system:anonymous" cannot get path "/metrics"'],
  ['/metrics', { certificate: alice }, 403, 'User "alice"'],
  ['/metrics', { certificate: prometheus }, 200, 'things_total 1'],
  ['/metrics', { token: 'good' }, 200, 'things_total 1'],
  ['/configz', { token: 'good' }, 200, '{"kubescheduler.config.k8s.io":{"parallelism":16}}'],
  ['/flagz', { token: 'good' }, 200, 'leader-elect=true'],
  ['/statusz', { token: 'good' }, 200, 'Binary version: v1'],
  ['/healthz/ping', { token: 'good' }, 200, 'ok'],
  ['/healthz/constructor', { token: 'good' }, 404, 'not found'],
  ['/other', { token: 'good' }, 404, 'not found'],
  ['/metrics', { token: 'good', method: 'POST' }, 405, 'Method Not Allowed'],
])('%s asked with %o is answered %d', async (path, requestCase: RequestCase, code, text) => {
  expect(await ask(path, requestCase)).toEqual({ code, text: expect.stringContaining(text) });
});

test('a failed health check is named, and can be excluded', async () => {
  problems.set('leaderElection', 'the lease was lost');
  expect(await ask('/healthz')).toEqual({ code: 500, text: expect.stringContaining('[-]leaderElection failed: the lease was lost') });
  expect(await ask('/healthz?exclude=leaderElection')).toEqual({ code: 200, text: 'ok' });
  problems.clear();
  expect((await ask('/readyz?verbose')).text).toBe('[+]ping ok\n[+]leaderElection ok\nreadyz check passed\n');
});

test('a new certificate is used for new connections', async () => {
  const renewed = pair('renewed');
  server.use({ ...renewed, clientCa: authority.certificate });
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: authority.certificate });
  await once(socket, 'secureConnect');
  expect(socket.getPeerCertificate().subject.CN).toBe('renewed');
  socket.destroy();
  expect((await ask('/metrics', { certificate: prometheus })).code).toBe(200);
});
