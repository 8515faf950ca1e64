import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import https from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authentication, authorization, certificates, core, rbac } from '#api';
import {
  createAuthority,
  createCertificateRequest,
  loadAuthority,
  MetricsRegistry,
  newPrivateKey,
  privateKeyPem,
  realClock,
  type Subject,
  seededRandom,
  signCertificate,
  silentLogger,
} from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { parseTokenFile } from './authn/static-tokens.ts';
import { reconcileRbac } from './authz/rbac/reconcile-rbac.ts';
import { inProcessTransport } from './in-process/in-process-transport.ts';
import { createSecurity } from './security.ts';
import { type ApiServer, startApiServer } from './server.ts';

const random = seededRandom('security');
const now = realClock.now();
const root = createAuthority({ subject: { commonName: 'root' }, notBefore: now - 60_000, notAfter: now + 3_600_000 }, random);
const strangers = createAuthority({ subject: { commonName: 'strangers' }, notBefore: now - 60_000, notAfter: now + 3_600_000 }, random);

function pairOf(subject: Subject, usage: 'clientAuth' | 'serverAuth', authority = root) {
  const key = newPrivateKey();
  const names = usage === 'serverAuth' ? { ipAddresses: ['127.0.0.1'] } : {};
  const template = {
    subject,
    publicKey: createPublicKey(key),
    notBefore: now - 60_000,
    notAfter: now + 3_600_000,
    extendedKeyUsages: [usage],
    ...names,
  };
  return { cert: signCertificate(template, loadAuthority(authority), random), key: privateKeyPem(key) };
}

const ISSUER = 'https://kubernetes.default.svc';
const signing = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const api = { apiGroup: 'rbac.authorization.k8s.io' };

const store = openMemoryStore({ clock: realClock });
let server: ApiServer;
let admin: Client;

function clientFor(name: string, groups: readonly string[] = ['system:authenticated']): Client {
  return new Client(inProcessTransport(server.handle, { name, groups }, { clock: realClock }), { fieldManager: 'test' });
}

beforeAll(async () => {
  server = startApiServer(
    {
      listen: { host: '127.0.0.1', port: 0, tls: { ...pairOf({ commonName: 'server' }, 'serverAuth'), ca: root.certificate } },
      version: { major: '1', minor: '36', gitVersion: 'v1.36.0' },
      anonymousAuth: true,
      systemObjects: false,
    },
    {
      store,
      clock: realClock,
      random,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
      admission: [],
      security: (context) =>
        createSecurity(
          {
            serviceAccounts: { issuer: ISSUER, keys: { signing } },
            staticTokens: parseTokenFile('admintoken,admin,admin-uid,"system:masters"\nalicetoken,alice,alice-uid,"devs"'),
            bootstrapTokens: true,
            authorizationModes: ['Node', 'RBAC'],
            nodeRules: [],
          },
          context,
        ),
    },
  );
  await server.ready;
  admin = clientFor('admin', ['system:masters', 'system:authenticated']);
  await admin.of(core.Namespace).create({ metadata: { name: 'ns' } });
  await admin.of(core.ServiceAccount).create({ metadata: { name: 'sa', namespace: 'ns' } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.close();
});

interface Answer {
  readonly code: number | undefined;
  readonly headers: https.RequestOptions['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  readonly body: any;
}

function send(method: string, path: string, options: https.RequestOptions & { body?: object } = {}): Promise<Answer> {
  const { body, headers, ...rest } = options;
  return new Promise((resolve, reject) => {
    const content = { ...headers, ...(body && { 'content-type': 'application/json' }) };
    const request = https.request(
      { host: '127.0.0.1', port: server.port, method, path, ca: root.certificate, agent: false, headers: content, ...rest },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const isJson = response.headers['content-type']?.includes('json');
          resolve({ code: response.statusCode, headers: response.headers, body: isJson ? JSON.parse(text) : text });
        });
      },
    );
    request.on('error', reject);
    request.end(body && JSON.stringify(body));
  });
}

const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const bearer = (token: string, more: Record<string, string | string[]> = {}) => ({
  headers: { authorization: `Bearer ${token}`, ...more },
});
const whoami = async (options: https.RequestOptions) => {
  const { code, body } = await send('POST', REVIEW, { ...options, body: {} });
  return code === 201 ? body.status.userInfo : code;
};

async function requestToken(account = 'sa', spec: object = {}): Promise<string> {
  const path = `/api/v1/namespaces/ns/serviceaccounts/${account}/token`;
  const { code, body } = await send('POST', path, { ...bearer('admintoken'), body: { spec } });
  expect(code, JSON.stringify(body)).toBe(201);
  return body.status.token;
}

async function grant(name: string, rules: readonly rbac.PolicyRule[], subject: rbac.Subject): Promise<void> {
  await admin.of(rbac.ClusterRole).create({ metadata: { name }, rules });
  await admin
    .of(rbac.ClusterRoleBinding)
    .create({ metadata: { name }, roleRef: { ...api, kind: 'ClusterRole', name }, subjects: [subject] });
}

const everybody = { ...api, kind: 'Group', name: 'system:authenticated' };

describe('over the network', () => {
  beforeAll(() =>
    grant('reviewers', [{ apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] }], everybody),
  );

  it('a client certificate of the cluster is its holder', async () => {
    const { cert, key } = pairOf({ commonName: 'carol', organizations: ['ops', 'dev'] }, 'clientAuth');
    const user = await whoami({ cert, key });
    expect(user).toMatchObject({ username: 'carol', groups: ['ops', 'dev', 'system:authenticated'] });
    expect(user.extra['authentication.kubernetes.io/credential-id'][0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/);
  });

  it('a certificate of strangers, or for serving only, is refused', async () => {
    expect(await whoami(pairOf({ commonName: 'eve' }, 'clientAuth', strangers))).toBe(401);
    expect(await whoami(pairOf({ commonName: 'eve' }, 'serverAuth'))).toBe(401);
    expect(await whoami({ ...pairOf({ commonName: 'eve' }, 'clientAuth', strangers), ...bearer('alicetoken') })).toMatchObject({
      username: 'alice',
    });
  });

  it('a token that was requested is the account, until the account is gone', async () => {
    await admin.of(core.ServiceAccount).create({ metadata: { name: 'short', namespace: 'ns' } });
    const token = await requestToken('short');
    expect(await whoami(bearer(token))).toMatchObject({
      username: 'system:serviceaccount:ns:short',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    });
    await admin.of(core.ServiceAccount).delete({ name: 'short', namespace: 'ns' });
    expect(await whoami(bearer(token))).toBe(401);
  });

  it('a token in a secret is the account, and its use is noted', async () => {
    const { SignedTokens } = await import('./authn/service-accounts/signed-tokens.ts');
    const { keySource } = await import('./authn/service-accounts/keys.ts');
    const { legacyClaims } = await import('./authn/service-accounts/legacy-tokens.ts');
    const account = await admin.of(core.ServiceAccount).get({ name: 'sa', namespace: 'ns' });
    const secret = { metadata: { name: 'old', namespace: 'ns', annotations: { 'kubernetes.io/service-account.name': 'sa' } } };
    const tokens = new SignedTokens({ keys: keySource({ signing }), clock: realClock });
    const token = await tokens.sign(legacyClaims(account as never, secret as never));
    const data = { token: Buffer.from(token).toString('base64') };
    await admin.of(core.Secret).create({ ...secret, type: 'kubernetes.io/service-account-token', data });
    expect(await whoami(bearer(token))).toMatchObject({ username: 'system:serviceaccount:ns:sa' });
    await expect
      .poll(async () => (await admin.of(core.Secret).get(secret.metadata)).metadata.labels?.['kubernetes.io/legacy-token-last-used'])
      .toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('what verifies tokens elsewhere is served', async () => {
    const configuration = await send('GET', '/.well-known/openid-configuration', bearer('admintoken'));
    expect(configuration.body).toMatchObject({ issuer: ISSUER, jwks_uri: `${ISSUER}/openid/v1/jwks` });
    const keys = await send('GET', '/openid/v1/jwks', bearer('admintoken', { accept: 'application/jwk-set+json' }));
    expect(keys.headers).toMatchObject({ 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=3600' });
    const { createLocalJWKSet, jwtVerify } = await import('jose');
    const { payload } = await jwtVerify(await requestToken(), createLocalJWKSet(keys.body), { issuer: ISSUER, audience: ISSUER });
    expect(payload.sub).toBe('system:serviceaccount:ns:sa');
    expect((await send('GET', '/openid/v1/jwks', bearer('admintoken', { accept: 'application/json' }))).code).toBe(406);
  });

  it('a refusal names who, what and where, and is not to be sniffed', async () => {
    const { code, headers, body } = await send('GET', '/api/v1/namespaces/ns/secrets', bearer('alicetoken'));
    expect([code, body.reason]).toEqual([403, 'Forbidden']);
    expect(body.message).toBe('secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" in the namespace "ns"');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
  });
});

describe('token requests', () => {
  const request = (spec: object, name = 'sa', metadata: object = {}) =>
    send('POST', `/api/v1/namespaces/ns/serviceaccounts/${name}/token`, { ...bearer('admintoken'), body: { metadata, spec } });

  it('bind a token to a pod and tell the node it runs on', async () => {
    const spec = { serviceAccountName: 'sa', nodeName: 'gone', containers: [{ name: 'c', image: 'i' }] };
    await admin.of(core.Pod).create({ metadata: { name: 'bound', namespace: 'ns' }, spec } as never);
    const token = await requestToken('sa', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'bound' }, expirationSeconds: 3607 });
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'));
    expect(claims['kubernetes.io']).toMatchObject({
      namespace: 'ns',
      pod: { name: 'bound' },
      node: { name: 'gone' },
      warnafter: claims.iat + 3607,
    });
    // The usual hour of a pod's token is a year in truth, for those that do not fetch another in time.
    expect(claims.exp - claims.iat).toBe(365 * 24 * 3600);
    expect(await whoami(bearer(token))).toMatchObject({
      extra: { 'authentication.kubernetes.io/pod-name': ['bound'], 'authentication.kubernetes.io/node-name': ['gone'] },
    });
  });

  it.each([
    ['of a missing account', {}, 'nosuch', {}, 404],
    ['for another name', {}, 'sa', { name: 'other' }, 422],
    ['for another uid', {}, 'sa', { uid: 'other' }, 409],
    ['for another namespace', {}, 'sa', { namespace: 'other' }, 400],
    ['that end too soon', { expirationSeconds: 10 }, 'sa', {}, 422],
    ['bound to what cannot be', { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } }, 'sa', {}, 400],
    ['bound to what has no name', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1' } }, 'sa', {}, 400],
    [
      'bound to a missing pod of a version that cannot be read',
      { boundObjectRef: { kind: 'Pod', apiVersion: 'a/b/c', name: 'x' } },
      'sa',
      {},
      404,
    ],
    ['bound to what is not there', { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'x' } }, 'sa', {}, 404],
  ])('%s are refused', async (_, spec, name, metadata, code) => {
    expect((await request(spec, name, metadata)).code).toBe(code);
  });
});

describe('a way into a pod', () => {
  it('takes the right to create, even where it is only read', async () => {
    const rules = [{ apiGroups: [''], resources: ['pods/exec', 'pods/proxy'], verbs: ['get'] }];
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'peeper' };
    await admin.of(rbac.ClusterRole).create({ metadata: { name: 'peeper' }, rules });
    await admin.of(rbac.RoleBinding).create({ metadata: { name: 'peeper', namespace: 'ns' }, roleRef, subjects });
    const enter = async (way: string) => (await send('GET', `/api/v1/namespaces/ns/pods/nosuch/${way}`, bearer('alicetoken'))).body;
    await expect.poll(() => enter('exec')).toMatchObject({ code: 403, message: 'pods "nosuch" is forbidden: ' });
    expect(await enter('proxy')).toMatchObject({ code: 404 });
  });
});

describe('impersonation', () => {
  it('is for those who may be the other, by name, group, uid and extra', async () => {
    const subject = { ...api, kind: 'User', name: 'alice' };
    const rules = [
      { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['bob'] },
      { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['g'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['userextras/scopes'], verbs: ['impersonate'], resourceNames: ['x'] },
    ];
    await grant('impersonators', rules, subject);
    const as = (headers: Record<string, string | string[]>) => whoami(bearer('alicetoken', headers));
    expect(await as({ 'impersonate-user': 'bob' })).toEqual({ username: 'bob', groups: ['system:authenticated'] });
    expect(await as({ 'impersonate-user': 'bob', 'impersonate-group': ['g'], 'impersonate-extra-scopes': 'x' })).toEqual({
      username: 'bob',
      groups: ['g', 'system:authenticated'],
      extra: { scopes: ['x'] },
    });
    expect(await as({ 'impersonate-user': 'bob', 'impersonate-group': ['g', 'system:masters'] })).toBe(403);
    expect(await as({ 'impersonate-user': 'eve' })).toBe(403);
    expect(await as({ 'impersonate-user': 'bob', 'impersonate-uid': 'u' })).toBe(403);
    expect(await as({ 'impersonate-group': 'g' })).toBe(400);
  });

  it('can be constrained to what is done with it', async () => {
    const rules = [
      { apiGroups: ['authentication.k8s.io'], resources: ['users'], verbs: ['impersonate:user-info'], resourceNames: ['zoe'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['impersonate-on:user-info:create'] },
    ];
    await grant('constrained', rules, { kind: 'ServiceAccount', name: 'sa', namespace: 'ns' });
    const token = await requestToken();
    expect(await whoami(bearer(token, { 'impersonate-user': 'zoe' }))).toMatchObject({ username: 'zoe' });
    const { code, body } = await send('GET', '/api/v1/pods', bearer(token, { 'impersonate-user': 'zoe' }));
    expect([code, body.message]).toEqual([
      403,
      'pods is forbidden: User "system:serviceaccount:ns:sa" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
    ]);
  });
});

describe('escalation', () => {
  const configMapRule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] };
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
  const write = ['create', 'update', 'patch', 'get'];
  const bob = { ...api, kind: 'User', name: 'bob' };
  const role = (name: string, rules: readonly rbac.PolicyRule[]) => ({ metadata: { name, namespace: 'ns' }, rules });
  const binding = (name: string, to: string) => ({
    metadata: { name, namespace: 'ns' },
    roleRef: { ...api, kind: 'Role', name: to },
    subjects: [bob],
  });
  let writer: Client;

  beforeAll(async () => {
    const rules = [
      configMapRule,
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings', 'clusterroles'], verbs: write },
    ];
    await grant('writers', rules, { ...api, kind: 'User', name: 'wendy' });
    writer = clientFor('wendy');
    await admin.of(rbac.Role).create(role('big', [secrets]));
  });

  it('lets who writes roles grant what they hold, and no more', async () => {
    const created = await writer.of(rbac.Role).create(role('small', [configMapRule]));
    await expect(writer.of(rbac.Role).create(role('large', [configMapRule, secrets]))).rejects.toMatchObject({
      code: 403,
      message:
        'roles.rbac.authorization.k8s.io "large" is forbidden: user "wendy" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    });
    await expect(writer.of(rbac.Role).update({ ...created, rules: [secrets] })).rejects.toMatchObject({ code: 403 });
    await expect(writer.of(rbac.Role).patch(created.metadata, { rules: [secrets] })).rejects.toMatchObject({ code: 403 });
    await expect(writer.of(rbac.Role).apply(role('large', [secrets]), { fieldManager: 'x' })).rejects.toMatchObject({ code: 403 });
  });

  it('lets anybody change what only garbage collection looks at', async () => {
    const big = await writer.of(rbac.Role).get({ name: 'big', namespace: 'ns' });
    const updated = await writer.of(rbac.Role).update({ ...big, metadata: { ...big.metadata, finalizers: ['example.com/x'] } });
    expect(updated.metadata.finalizers).toEqual(['example.com/x']);
  });

  it('lets who binds roles grant what they hold, or may bind', async () => {
    await expect(writer.of(rbac.RoleBinding).create(binding('b', 'big'))).rejects.toMatchObject({ code: 403 });
    await expect(writer.of(rbac.RoleBinding).create(binding('b', 'nosuch'))).rejects.toMatchObject({ code: 404 });
    await writer.of(rbac.RoleBinding).create(binding('small', 'small'));
    await grant('binders', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'], resourceNames: ['big'] }], {
      ...api,
      kind: 'User',
      name: 'wendy',
    });
    expect((await writer.of(rbac.RoleBinding).create(binding('b', 'big'))).metadata.name).toBe('b');
  });

  it('lets only those who hold everything aggregate roles', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    await expect(writer.of(rbac.ClusterRole).create({ metadata: { name: 'sum' }, rules: [], aggregationRule })).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('must have cluster-admin privileges to use the aggregationRule'),
    });
    await grant('escalators', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['escalate'] }], {
      ...api,
      kind: 'User',
      name: 'wendy',
    });
    await writer.of(rbac.ClusterRole).create({ metadata: { name: 'sum' }, rules: [secrets], aggregationRule });
  });
});

describe('reviews', () => {
  const allowed = async (spec: object) => (await admin.of(authorization.SubjectAccessReview).create({ spec } as never)).status;

  it('follow roles and bindings as they come and go', async () => {
    const question = { user: 'newcomer', resourceAttributes: { verb: 'get', resource: 'nodes' } };
    expect(await allowed(question)).toEqual({ allowed: false });
    await grant('newcomers', [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }], { ...api, kind: 'User', name: 'newcomer' });
    expect(await allowed(question)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "newcomers" of ClusterRole "newcomers" to User "newcomer"',
    });
    await admin.of(rbac.ClusterRole).delete({ name: 'newcomers' });
    expect(await allowed(question)).toEqual({
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "newcomers" not found',
    });
    await admin.of(rbac.ClusterRoleBinding).delete({ name: 'newcomers' });
    expect(await allowed(question)).toEqual({ allowed: false });
  });

  it('tell what of a selector was not understood', async () => {
    const fieldSelector = {
      requirements: [
        { key: 'a', operator: 'In', values: ['b'] },
        { key: 'c', operator: 'Newer' },
      ],
    };
    const status = await allowed({ user: 'x', resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector } });
    expect(status).toEqual({
      allowed: false,
      evaluationError: 'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
    });
  });

  it('let a node list the pods that run on it', async () => {
    const user = { user: 'system:node:n', groups: ['system:nodes'] };
    const attributes = { verb: 'list', resource: 'pods' };
    expect(await allowed({ ...user, resourceAttributes: { ...attributes, fieldSelector: { rawSelector: 'spec.nodeName=n' } } })).toEqual({
      allowed: true,
    });
    expect(
      await allowed({ ...user, resourceAttributes: { ...attributes, fieldSelector: { rawSelector: 'spec.nodeName=m' } } }),
    ).toMatchObject({ allowed: false });
  });

  it('of tokens tell whom they stand for', async () => {
    const review = (token: string) => admin.of(authentication.TokenReview).create({ spec: { token } } as never);
    expect((await review('alicetoken')).status).toMatchObject({
      authenticated: true,
      user: { username: 'alice', uid: 'alice-uid' },
      audiences: [ISSUER],
    });
    expect((await review('nosuch')).status).toEqual({ user: {}, error: 'invalid bearer token' });
  });
});

describe('certificate signing requests', () => {
  const draft = (name: string, organizations: readonly string[] = [], signerName = 'kubernetes.io/kube-apiserver-client') => {
    const pem = createCertificateRequest(newPrivateKey(), { subject: { commonName: 'x', organizations } });
    const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages: ['client auth'] };
    return { metadata: { name }, spec };
  };
  const requests = (client: Client) => client.of(certificates.CertificateSigningRequest);

  it('for the group that may do everything are refused', async () => {
    await expect(requests(admin).create(draft('masters', ['system:masters']))).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'),
    });
  });

  it('are approved and signed by those who may for the signer', async () => {
    const all = { apiGroups: ['certificates.k8s.io'], verbs: ['*'] };
    await grant(
      'csr-writers',
      [{ ...all, resources: ['certificatesigningrequests', 'certificatesigningrequests/approval', 'certificatesigningrequests/status'] }],
      {
        ...api,
        kind: 'Group',
        name: 'signers',
      },
    );
    const user = clientFor('sally', ['signers', 'system:authenticated']);
    const request = await requests(user).create(draft('c'));
    const approved = { ...request, status: { conditions: [{ type: 'Approved', status: 'True', reason: 'R', message: '' }] } };
    const approve = () => requests(user).subresource('approval').update(request.metadata, approved);
    await expect(approve()).rejects.toMatchObject({
      message: expect.stringContaining('user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"'),
    });
    await grant('approvers', [{ ...all, resources: ['signers'], resourceNames: ['kubernetes.io/*'], verbs: ['approve'] }], {
      ...api,
      kind: 'Group',
      name: 'signers',
    });
    await approve();
    const current = await requests(user).get(request.metadata);
    const failed = {
      ...current,
      status: { conditions: [...(current.status?.conditions ?? []), { type: 'Failed', status: 'True', reason: 'R' }] },
    };
    await expect(requests(user).updateStatus(failed as never)).rejects.toMatchObject({
      message: expect.stringContaining('user not permitted to sign requests with signerName'),
    });
  });
});

describe('default roles', () => {
  it('are made, made good again, and not touched when all is well', async () => {
    const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
    const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
    const subject = { ...api, kind: 'Group', name: 'g' };
    const policy = {
      clusterRoles: [{ metadata: { name: 'd', labels }, rules: [rule] }],
      clusterRoleBindings: [{ metadata: { name: 'd', labels }, roleRef: { ...api, kind: 'ClusterRole', name: 'd' }, subjects: [subject] }],
      roles: [{ metadata: { name: 'd', namespace: 'ns', labels }, rules: [rule] }],
      roleBindings: [
        { metadata: { name: 'd', namespace: 'ns', labels }, roleRef: { ...api, kind: 'Role', name: 'd' }, subjects: [subject] },
      ],
    };
    // Two servers that start at the same time do not get in each other's way.
    await Promise.all([reconcileRbac(admin, policy, silentLogger), reconcileRbac(admin, policy, silentLogger)]);
    const role = await admin.of(rbac.ClusterRole).get({ name: 'd' });
    await admin.of(rbac.ClusterRole).update({ ...role, rules: [] });
    const binding = await admin.of(rbac.ClusterRoleBinding).get({ name: 'd' });
    await admin.of(rbac.ClusterRoleBinding).delete(binding.metadata);
    await admin
      .of(rbac.ClusterRoleBinding)
      .create({ metadata: { name: 'd' }, roleRef: { ...api, kind: 'ClusterRole', name: 'other' }, subjects: [] });
    await reconcileRbac(admin, policy, silentLogger);
    const repaired = await admin.of(rbac.ClusterRole).get({ name: 'd' });
    expect(repaired.rules).toEqual([rule]);
    expect((await admin.of(rbac.ClusterRoleBinding).get({ name: 'd' })).roleRef.name).toBe('d');
    await reconcileRbac(admin, policy, silentLogger);
    expect((await admin.of(rbac.ClusterRole).get({ name: 'd' })).metadata.resourceVersion).toBe(repaired.metadata.resourceVersion);
  });
});
