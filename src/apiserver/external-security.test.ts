import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it, test } from 'vitest';
import { authentication, authorization, core } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client, httpsTransport } from '#client';
import { openMemoryStore } from '#store';
import { loopbackPki, TestIssuer } from './authn/oidc/issuer.test-server.ts';
import { parseTokenFile } from './authn/static-tokens.ts';
import { parseAbacPolicies } from './authz/abac/abac-policy.ts';
import { parseAuthorizationConfiguration } from './authz/authorization-configuration.ts';
import type { ExternalSecurityConfig } from './external-security.ts';
import { type AuthorizationMode, createSecurity, type Security } from './security.ts';
import { startApiServer } from './server.ts';

const random = seededRandom('external');
const pki = loopbackPki(random);
const directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-external-'));
afterAll(() => rmSync(directory, { recursive: true }));
const stops: AsyncDisposable[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop[Symbol.asyncDispose]();
});

interface ReceivedRequest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A service that answers reviews. */
async function service(answer: (received: ReceivedRequest, attempt: number) => { code?: number; status?: object; body?: string }) {
  const requests: ReceivedRequest[] = [];
  const server = https.createServer({ cert: pki.cert, key: pki.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedRequest;
      requests.push(review);
      const { code = 200, status, body } = answer(review, requests.length);
      response.writeHead(code, { 'content-type': 'application/json' }).end(body ?? JSON.stringify({ ...review, status }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const ca = Buffer.from(pki.authority).toString('base64');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/review`;
  const text = `{clusters: [{name: c, cluster: {server: '${url}', certificate-authority-data: ${ca}}}], contexts: [{name: x, context: {cluster: c}}], current-context: x}`;
  const file = path.join(directory, `kubeconfig-${requests.length}-${random.uuid()}`);
  writeFileSync(file, text);
  return { reviews: requests, kubeconfig: { path: file, text } };
}

async function serve(external: ExternalSecurityConfig, authorizationModes: readonly AuthorizationMode[] = ['AlwaysAllow']) {
  const store = openMemoryStore({ clock: realClock });
  let security: Security | undefined;
  const server = startApiServer(
    {
      listen: { host: '127.0.0.1', port: 0, tls: { cert: pki.cert, key: pki.key, ca: pki.authority } },
      version: { major: '1', minor: '36' },
      anonymousAuth: true,
      systemObjects: false,
    },
    {
      ...{ store, clock: realClock, random, logger: silentLogger, metrics: new MetricsRegistry(), admission: [] },
      security: (context) => {
        security = createSecurity(
          {
            serviceAccounts: { issuer: 'https://own', keys: { signing: pki.key } },
            staticTokens: parseTokenFile('janes,jane,1,"devs"'),
            bootstrapTokens: false,
            authorizationModes,
            nodeRules: [],
            external,
          },
          context,
        );
        return security;
      },
    },
  );
  stops.push(store, server);
  await server.ready;
  const client = (token?: string) => {
    const transport = httpsTransport(
      { server: `https://127.0.0.1:${server.port}`, ca: pki.authority, ...(token && { credentials: { token } }) },
      { clock: realClock, logger: silentLogger },
    );
    stops.push(transport);
    return new Client(transport);
  };
  return { client, security: security! };
}

const whoIs = async (client: Client) =>
  ((await client.of(authentication.SelfSubjectReview).create({} as never)) as { status?: { userInfo?: object } }).status?.userInfo;

describe('a token webhook', () => {
  const config = (kubeconfig: { path: string; text: string }, version: 'v1' | 'v1beta1' = 'v1') => ({
    tokenWebhook: { kubeconfig, version, cacheTtlMs: 60_000 },
  });

  it('authenticates a token, and its answer is cached', async () => {
    const { reviews, kubeconfig } = await service(({ spec }) =>
      spec.token === 'good'
        ? { status: { authenticated: true, user: { username: 'joe', uid: '7', groups: ['ops'], extra: { a: ['b'] } } } }
        : { status: { authenticated: false } },
    );
    const { client } = await serve(config(kubeconfig));
    const joe = { username: 'joe', uid: '7', groups: ['ops', 'system:authenticated'], extra: { a: ['b'] } };
    for (let i = 0; i < 3; i++) expect(await whoIs(client('good'))).toEqual(joe);
    await expect(whoIs(client('bad'))).rejects.toMatchObject({ code: 401 });
    await expect(whoIs(client('bad'))).rejects.toMatchObject({ code: 401 });
    expect(reviews.map(({ apiVersion, spec }) => [apiVersion, spec])).toEqual([
      ['authentication.k8s.io/v1', { token: 'good', audiences: ['https://own'] }],
      ['authentication.k8s.io/v1', { token: 'bad', audiences: ['https://own'] }],
    ]);
  });

  test.each([
    ['answers nonsense', { body: '<html>' }],
    ['answers too much', { body: 'x'.repeat(2_000_000) }],
    ['has no user', { status: { authenticated: true } }],
    ['has an error', { status: { error: 'no' } }],
    ['is for others', { status: { authenticated: true, user: { username: 'joe' }, audiences: ['other'] } }],
  ])('that %s lets nobody in, and the next request is asked about again', async (_, answer) => {
    const { kubeconfig } = await service(() => answer);
    const { client } = await serve(config(kubeconfig, 'v1beta1'));
    await expect(whoIs(client('x'))).rejects.toMatchObject({ code: 401 });
    expect(await whoIs(client('janes'))).toMatchObject({ username: 'jane' });
  });

  it('that fails temporarily is retried', async () => {
    const { reviews, kubeconfig } = await service((_, attempt) =>
      attempt === 1 ? { code: 503, body: 'later' } : { status: { authenticated: true, user: { username: 'joe' } } },
    );
    const { client } = await serve(config(kubeconfig));
    expect(await whoIs(client('x'))).toMatchObject({ username: 'joe' });
    expect(reviews.length).toBe(2);
  });
});

describe('an authorization webhook', () => {
  const config = (kubeconfig: { path: string; text: string }) => ({
    authorizationWebhook: { kubeconfig, version: 'v1' as const, authorizedTtlMs: 60_000, unauthorizedTtlMs: 60_000 },
  });
  const maps = (client: Client) => client.of(core.ConfigMap).list({ namespace: 'default' });

  it('allows, denies or has no opinion, and its answer is cached', async () => {
    const { reviews, kubeconfig } = await service(({ spec }) => {
      const { resource } = (spec.resourceAttributes ?? {}) as { resource?: string };
      if (resource === 'configmaps') return { status: { allowed: true } };
      return resource === 'secrets' ? { status: { allowed: false, denied: true, reason: 'never' } } : { status: { allowed: false } };
    });
    const { client } = await serve(config(kubeconfig), ['Webhook', 'AlwaysAllow']);
    const jane = client('janes');
    await maps(jane);
    await maps(jane);
    await expect(jane.of(core.Secret).list({ namespace: 'default' })).rejects.toThrow('never');
    await jane.of(core.Service).list({ namespace: 'default' });
    expect(reviews).toHaveLength(3);
    expect(reviews[0]!.spec).toEqual({
      user: 'jane',
      uid: '1',
      groups: ['devs', 'system:authenticated'],
      resourceAttributes: { namespace: 'default', verb: 'list', version: 'v1', resource: 'configmaps' },
    });
  });

  it('is called each time with a cache TTL of zero', async () => {
    const { reviews, kubeconfig } = await service(() => ({ status: { allowed: true } }));
    const { authorizationWebhook } = config(kubeconfig);
    const { client } = await serve({ authorizationWebhook: { ...authorizationWebhook, authorizedTtlMs: 0 } }, ['Webhook']);
    const jane = client('janes');
    await maps(jane);
    await maps(jane);
    expect(reviews).toHaveLength(2);
  });

  it('that both allows and denies is an error', async () => {
    const { kubeconfig } = await service(() => ({ status: { allowed: true, denied: true } }));
    const { client } = await serve(config(kubeconfig), ['Webhook']);
    await expect(maps(client('janes'))).rejects.toThrow('returned both allow and deny response');
  });

  it('does not list the rules of a user', async () => {
    const { kubeconfig } = await service(() => ({ status: { allowed: true } }));
    const { client } = await serve(config(kubeconfig), ['Webhook']);
    const review = await client('janes')
      .of(authorization.SelfSubjectRulesReview)
      .create({ spec: { namespace: 'default' } } as never);
    expect(review).toMatchObject({
      status: { incomplete: true, evaluationError: 'webhook authorizer does not support user rule resolution' },
    });
  });
});

describe('an AuthorizationConfiguration', () => {
  const webhook = (file: string, failurePolicy: string, condition: string) =>
    `{type: Webhook, name: hook, webhook: {timeout: 3s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: ${failurePolicy}, connectionInfo: {type: KubeConfigFile, kubeConfigFile: '${file}'}, matchConditions: [{expression: ${JSON.stringify(condition)}}]}}`;
  const text = (...authorizers: string[]) =>
    `{apiVersion: apiserver.config.k8s.io/v1, kind: AuthorizationConfiguration, authorizers: [${authorizers.join(', ')}]}`;
  const SECRETS = "has(request.resourceAttributes) && request.resourceAttributes.resource == 'secrets'";
  const lists = async (client: Client) => ({
    maps: await client
      .of(core.ConfigMap)
      .list({ namespace: 'a' })
      .then(
        () => 'yes',
        (error: Error) => error.message,
      ),
    secrets: await client
      .of(core.Secret)
      .list({ namespace: 'a' })
      .then(
        () => 'yes',
        (error: Error) => error.message,
      ),
  });

  it('calls a webhook only if its matchConditions match, and follows its failurePolicy', async () => {
    const { reviews, kubeconfig } = await service(() => ({ code: 403, body: 'no' }));
    const file = path.join(directory, 'authz.yaml');
    writeFileSync(file, text(webhook(kubeconfig.path, 'Deny', SECRETS), '{type: AlwaysAllow, name: all}'));
    const { client } = await serve({ authorizationConfig: file });
    const { maps, secrets } = await lists(client('janes'));
    expect([maps, secrets === 'yes', reviews.length]).toEqual(['yes', false, 1]);
  });

  it('is reloaded; an invalid one changes nothing', async () => {
    const { kubeconfig } = await service(() => ({ status: { denied: true, reason: 'hook says no' } }));
    const file = path.join(directory, 'followed.yaml');
    writeFileSync(file, text('{type: AlwaysAllow, name: all}'));
    const { client, security } = await serve({ authorizationConfig: file });
    expect((await lists(client('janes'))).secrets).toBe('yes');
    writeFileSync(file, text(webhook(kubeconfig.path, 'NoOpinion', SECRETS), '{type: AlwaysAllow, name: all}'));
    security.reload();
    expect((await lists(client('janes'))).secrets).toContain('hook says no');
    writeFileSync(file, 'nonsense');
    security.reload();
    expect((await lists(client('janes'))).secrets).toContain('hook says no');
  });

  test.each([
    [text(), 'authorizers: Required value: at least one authorization mode must be defined'],
    [text('{type: Nope, name: a}'), 'authorizers[0].type: Unsupported value: "Nope"'],
    [text('{type: RBAC, name: a}', '{type: RBAC, name: b}'), 'authorizers[1].type: Duplicate value: "RBAC"'],
    [text('{type: RBAC}'), 'authorizers[0].name: Required value'],
    [text('{type: RBAC, name: A_B}'), 'authorizer name is invalid'],
    [text('{type: Webhook, name: a}'), 'required when type=Webhook'],
    [text(webhook('relative', 'Deny', 'true')), 'must be an absolute path'],
    [text(webhook('/missing', 'Deny', 'true')), 'error loading file: ENOENT'],
    [text(webhook('/missing', 'Maybe', 'true')), 'failurePolicy: Unsupported value: "Maybe": supported values: "NoOpinion", "Deny"'],
    [text(webhook('/missing', 'Deny', 'request.nope')), 'undefined field'],
    [text(webhook('/missing', 'Deny', '1')), 'must evaluate to bool'],
    [text('{type: RBAC, name: a, colour: red}'), 'strict decoding error: authorizers[0].colour'],
  ])('is refused: %s', (configuration, message) => {
    expect(() => parseAuthorizationConfiguration(configuration)).toThrow(message);
  });
});

describe('the mode ABAC', () => {
  const policies = (...lines: string[]) => parseAbacPolicies(lines.join('\n'), 'policies.jsonl');
  const policy = (spec: object) => JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });

  it('allows requests that match a line of the policy file, in both formats', async () => {
    const abacPolicies = policies(
      '# comment',
      policy({ user: 'jane', namespace: 'team', resource: 'configmaps', apiGroup: '' }),
      policy({ group: 'devs', namespace: '*', resource: 'pods', apiGroup: '*', readonly: true }),
      policy({ user: '*', nonResourcePath: '/version' }),
      '{"user":"joe"}',
    );
    const { client } = await serve({ abacPolicies }, ['ABAC']);
    const jane = client('janes');
    const may = async (attempt: Promise<unknown>) =>
      attempt.then(
        () => true,
        (error: { code: number }) => error.code !== 403,
      );
    expect(await may(jane.of(core.ConfigMap).create({ metadata: { name: 'a', namespace: 'team' } }))).toBe(true);
    expect(await may(jane.of(core.ConfigMap).list({ namespace: 'other' }))).toBe(false);
    expect(await may(jane.of(core.Pod).list({ namespace: 'other' }))).toBe(true);
    expect(await may(jane.of(core.Pod).delete({ name: 'a', namespace: 'other' }))).toBe(false);
    const review = await jane
      .of(authorization.SelfSubjectRulesReview)
      .create({ spec: { namespace: 'team' } } as never)
      .catch((error) => error);
    expect(String(review)).toContain('forbidden');
  });

  test.each([
    ['nonsense', 'error reading policy file policies.jsonl, line 1: nonsense'],
    ['[]', 'it is no object'],
    ['{"apiVersion":"v1","kind":"Pod"}', 'unrecognized object'],
    [policy({ user: 1 }), 'user must be a string'],
  ])('does not take a file with %s', (line, message) => {
    expect(() => policies(line)).toThrow(message);
  });
});

it('an AuthenticationConfiguration accepts its issuers, restricts anonymous paths, and is reloaded', async () => {
  const issuer = await TestIssuer.start(random);
  stops.push(issuer);
  const file = path.join(directory, 'authn.yaml');
  const write = (anonymous: string) =>
    writeFileSync(
      file,
      `{apiVersion: apiserver.config.k8s.io/v1, kind: AuthenticationConfiguration, jwt: [{issuer: {url: '${issuer.url}', audiences: [sampan], certificateAuthority: ${JSON.stringify(issuer.authority)}}, claimMappings: {username: {claim: sub, prefix: 'oidc:'}}}], anonymous: ${anonymous}}`,
    );
  write('{enabled: true, conditions: [{path: /livez}]}');
  const { client, security } = await serve({ authenticationConfig: file });
  expect(await whoIs(client(await issuer.token({ sub: 'joe' })))).toMatchObject({ username: 'oidc:joe', groups: ['system:authenticated'] });
  expect(await whoIs(client('janes'))).toMatchObject({ username: 'jane' });
  const anonymous = client();
  const read = (target: string) =>
    anonymous.transport.text({ method: 'GET', path: target }).then(
      () => 200,
      (error: { code: number }) => error.code,
    );
  expect([await read('/livez'), await read('/version')]).toEqual([200, 401]);
  write('{enabled: false}');
  security.reload();
  expect(await read('/livez')).toBe(401);
});
