import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CompactSign } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { UserInfo } from '#apiserver';
import { realClock } from '#base';
import { ADMIN_TOKEN, type HostileCluster, type Reply, startHostileCluster } from './hostile-cluster.ts';
import { JSON_LIES, type Lie, type LieExchange, type LyingServer, startLyingServer, TRANSPORT_LIES } from './lying-server.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// A misbehaving authentication or authorization service lets nobody in, and only affects requests that depend on it.

/** Upstream's timeout of 30 s would apply to each. */
const UNENDING = new Set(['a slow trickle', 'no answer']);
const LIES = Object.entries({ ...TRANSPORT_LIES, ...JSON_LIES }).filter(([name]) => !UNENDING.has(name));
const NAMESPACES = '/api/v1/namespaces';

const json =
  (value: unknown): Lie =>
  ({ response }) =>
    void response.end(JSON.stringify(value));
const status = (fields: object): Lie => json({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status: fields });
const decision = (fields: object): Lie => json({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: fields });

const TOKEN_LIES: readonly (readonly [string, Lie])[] = [
  ...LIES,
  ['a user without a name', status({ authenticated: true, user: {} })],
  ['a verdict that is a text', status({ authenticated: 'true', user: { username: 'a' } })],
  ['a user that is a list', status({ authenticated: true, user: [] })],
  ['groups that are a text', status({ authenticated: true, user: { username: 'a', groups: 'system:masters' } })],
  ['groups that are objects', status({ authenticated: true, user: { username: 'a', groups: [{ a: 1 }] } })],
  ['a name that is an object', status({ authenticated: true, user: { username: { toString: 'a' } } })],
  ['extra that is a list', status({ authenticated: true, user: { username: 'a', extra: [1] } })],
];
const ACCESS_LIES: readonly (readonly [string, Lie])[] = [
  ...LIES,
  ['a decision that is a text', decision({ allowed: 'true' })],
  ['a decision that is a number', decision({ allowed: 1 })],
  ['two decisions', decision({ allowed: true, denied: true })],
  ['a status that is a list', json({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: [{ allowed: true }] })],
];
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const JWK = KEYS.publicKey.export({ format: 'jwk' });
const keySet = (...keys: readonly unknown[]): Lie => json({ keys });
const KEY_LIES: readonly (readonly [string, Lie])[] = [
  ['keys that are null', keySet(null, null)],
  ['keys that are a text', json({ keys: 'all' })],
  ['too many keys', keySet(...Array.from({ length: 101 }, () => JWK))],
  ['a shared secret', keySet({ kty: 'oct', k: 'c2VjcmV0', alg: 'RS256' })],
  ['a key without a modulus', keySet({ kty: 'RSA', e: 'AQAB' })],
  ['a modulus without end', keySet({ kty: 'RSA', e: 'AQAB', n: '_'.repeat(900_000) })],
  ['a modulus of one bit', keySet({ kty: 'RSA', e: 'AQAB', n: 'AQ' })],
  ['a point that is on no curve', keySet({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' })],
  ['a key of the kind constructor', keySet({ ...JWK, kty: 'constructor' })],
  ['a key that is for encryption', keySet({ ...JWK, use: 'enc' })],
];
/** The issuer's discovery document, then its keys: every second fault is in the keys. */
const ISSUER_LIES: readonly { readonly name: string; readonly lie: Lie; readonly inKeys: boolean }[] = [
  ...LIES.map(([name, lie], i) => ({ name, lie, inKeys: i % 2 === 1 })),
  ...KEY_LIES.map(([name, lie]) => ({ name, lie, inKeys: true })),
  { name: 'another issuer', lie: json({ issuer: 'https://other', jwks_uri: 'https://other' }), inKeys: false },
  { name: 'keys in a file', lie: json({ issuer: 'x', jwks_uri: 'file:///etc/passwd' }), inKeys: false },
];

let hostile: HostileCluster;
const servers: LyingServer[] = [];
const directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-liars-'));

async function lyingServer(honest: (body: Buffer) => string, pick: (exchange: LieExchange) => Lie | undefined): Promise<LyingServer> {
  const server = await startLyingServer(honest);
  server.lie = (exchange) => (pick(exchange) ?? (({ response, honest: truth }) => void response.end(truth)))(exchange);
  servers.push(server);
  return server;
}

function kubeconfigOf({ url, ca }: LyingServer): { path: string; text: string } {
  const data = Buffer.from(ca).toString('base64');
  const text = `{clusters: [{name: c, cluster: {server: '${url}/review', certificate-authority-data: ${data}}}], contexts: [{name: x, context: {cluster: c}}], current-context: x}`;
  return { path: '/kubeconfig', text };
}

const lieOf = (lies: readonly (readonly [string, Lie])[], name: string) =>
  lies.find(([lieName]) => name === lieName.replaceAll(' ', '-'))?.[1];
const tokenFor = (name: string) => name.replaceAll(' ', '-');

beforeAll(async () => {
  const tokens = await lyingServer(
    (body) => {
      const review = JSON.parse(body.toString()) as { spec: { token: string } };
      const isKnown = review.spec.token === 'honest';
      return JSON.stringify({
        ...review,
        status: isKnown ? { authenticated: true, user: { username: 'honest' } } : { authenticated: false },
      });
    },
    ({ body }) => lieOf(TOKEN_LIES, (JSON.parse(body.toString()) as { spec: { token: string } }).spec.token),
  );
  const access = await lyingServer(
    (body) => JSON.stringify({ ...JSON.parse(body.toString()), status: { allowed: true } }),
    ({ body }) => lieOf(ACCESS_LIES, (JSON.parse(body.toString()) as { spec: { user: string } }).spec.user),
  );
  const issuer = await lyingServer(
    () => '{}',
    ({ request }) => {
      const [, index, , keys] = /^\/i(\d+)(\/\.well-known\/openid-configuration)?(\/keys)?$/.exec(request.url ?? '') ?? [];
      const url = `${issuer.url}/i${index}`;
      const { lie, inKeys } = ISSUER_LIES[Number(index)] ?? {};
      if (lie !== undefined && inKeys === (keys !== undefined)) return lie;
      return keys === undefined ? json({ issuer: url, jwks_uri: `${url}/keys` }) : keySet({ ...JWK, kid: 'a', use: 'sig' });
    },
  );
  const jwt = [...ISSUER_LIES, 'honest'].map((_, i) => ({
    issuer: { url: `${issuer.url}/i${i}`, audiences: ['sampan'], certificateAuthority: issuer.ca },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
  }));
  const authenticationConfig = path.join(directory, 'authentication.json');
  writeFileSync(
    authenticationConfig,
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt }),
  );
  const users: readonly (readonly [string, UserInfo])[] = [...ACCESS_LIES.map(([name]) => name), 'trusted'].map((name) => [
    `access-${tokenFor(name)}`,
    { name: tokenFor(name), groups: ['system:authenticated'] },
  ]);
  hostile = await startHostileCluster({
    controllerManager: { controllers: [] },
    apiServer: {
      staticTokens: new Map([[ADMIN_TOKEN, { name: 'admin', groups: ['system:masters', 'system:authenticated'] }], ...users]),
      authorizationModes: ['Node', 'RBAC', 'Webhook'],
      external: { authenticationConfig },
      tokenWebhook: { kubeconfig: kubeconfigOf(tokens), version: 'v1' },
      authorizationWebhook: { kubeconfig: kubeconfigOf(access), version: 'v1' },
    },
  });
  issuerUrl = issuer.url;
});
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await hostile[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

let issuerUrl = '';

/** The responses to all of them, while other requests are served in short turns. */
async function codes(tokens: readonly string[]): Promise<readonly number[]> {
  const loggedBefore = hostile.logged.length;
  const ask = () => Promise.all(tokens.map((token) => hostile.send(NAMESPACES, { token })));
  const { answer, longestMs } = await timedTurns<readonly Reply[]>(TURN_BUDGET_MS, ask);
  expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
  expect(hostile.logged.slice(loggedBefore).filter((line) => /\b(Type|Range|Reference)Error\b/.test(line))).toEqual([]);
  expect(await hostile.send('/livez')).toMatchObject({ code: 200 });
  return answer.map(({ code }) => code);
}

/** Names of the faults with another response. */
function others(names: readonly string[], answers: readonly number[], expected: readonly number[]): readonly string[] {
  return names.flatMap((name, i) => (expected.includes(answers[i]!) ? [] : [`${name}: ${answers[i]}`]));
}

describe('a token webhook that lies', () => {
  test('lets nobody in', async () => {
    const names = TOKEN_LIES.map(([name]) => name);
    expect(others(names, await codes(names.map(tokenFor)), [401])).toEqual([]);
  });

  test('and then says the truth is believed', async () => {
    // Authenticated, and allowed by the authorization webhook.
    await vi.waitUntil(async () => (await hostile.send(NAMESPACES, { token: 'honest' })).code === 200, { timeout: 30_000 });
  });
});

describe('an authorization webhook that lies', () => {
  // 500 where the webhook could not be called, as upstream; 403 where it did not allow the request.
  test('allows nothing', async () => {
    const names = ACCESS_LIES.map(([name]) => name);
    expect(others(names, await codes(names.map((name) => `access-${tokenFor(name)}`)), [403, 500])).toEqual([]);
  });

  test('and says the truth about another is believed', async () => {
    expect((await hostile.send(NAMESPACES, { token: 'access-trusted' })).code).toBe(200);
  });
});

describe('an issuer of tokens that lies', () => {
  const token = (index: number) => {
    const claims = { iss: `${issuerUrl}/i${index}`, aud: 'sampan', sub: 'trusted', exp: Math.floor(realClock.now() / 1000) + 3600 };
    return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: 'RS256', kid: 'a' }).sign(KEYS.privateKey);
  };

  test('about itself or its keys lets nobody in', async () => {
    const names = ISSUER_LIES.map(({ name, inKeys }) => `${name}${inKeys ? ' (keys)' : ''}`);
    expect(others(names, await codes(await Promise.all(names.map((_, i) => token(i)))), [401])).toEqual([]);
  });

  test('does not concern one that does not', async () => {
    expect((await hostile.send(NAMESPACES, { token: await token(ISSUER_LIES.length) })).code).toBe(200);
  });
});
