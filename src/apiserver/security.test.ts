import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core, rbac } from '#api';
import { realClock } from '#base';
import { api, bearer, everybody, ISSUER, pairOf, signing, startSecureServer, strangers } from './security.test-setup.ts';

const secure = await startSecureServer();
const { admin, send, whoami, requestToken, grant } = secure;
afterAll(() => secure[Symbol.asyncDispose]());

describe('authentication over HTTPS', () => {
  beforeAll(() =>
    grant('reviewers', [{ apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] }], everybody),
  );

  it('a client certificate authenticates its common name and organizations', async () => {
    const { cert, key } = pairOf({ commonName: 'carol', organizations: ['ops', 'dev'] }, 'clientAuth');
    const user = await whoami({ cert, key });
    expect(user).toMatchObject({ username: 'carol', groups: ['ops', 'dev', 'system:authenticated'] });
    expect(user.extra['authentication.kubernetes.io/credential-id'][0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/);
  });

  it('a certificate of another CA, or without clientAuth, is rejected', async () => {
    expect(await whoami(pairOf({ commonName: 'eve' }, 'clientAuth', strangers))).toBe(401);
    expect(await whoami(pairOf({ commonName: 'eve' }, 'serverAuth'))).toBe(401);
    expect(await whoami({ ...pairOf({ commonName: 'eve' }, 'clientAuth', strangers), ...bearer('alicetoken') })).toMatchObject({
      username: 'alice',
    });
  });

  it('a requested token authenticates its service account until that is deleted', async () => {
    await admin.of(core.ServiceAccount).create({ metadata: { name: 'short', namespace: 'ns' } });
    const token = await requestToken('short');
    expect(await whoami(bearer(token))).toMatchObject({
      username: 'system:serviceaccount:ns:short',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    });
    await admin.of(core.ServiceAccount).delete({ name: 'short', namespace: 'ns' });
    expect(await whoami(bearer(token))).toBe(401);
  });

  it('a token in a secret authenticates its service account, and its last use is recorded', async () => {
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

  it('OIDC discovery and the key set are served', async () => {
    const configuration = await send('GET', '/.well-known/openid-configuration', bearer('admintoken'));
    expect(configuration.body).toMatchObject({ issuer: ISSUER, jwks_uri: `${ISSUER}/openid/v1/jwks` });
    const keys = await send('GET', '/openid/v1/jwks', bearer('admintoken', { accept: 'application/jwk-set+json' }));
    expect(keys.headers).toMatchObject({ 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=3600' });
    const { createLocalJWKSet, jwtVerify } = await import('jose');
    const { payload } = await jwtVerify(await requestToken(), createLocalJWKSet(keys.body), { issuer: ISSUER, audience: ISSUER });
    expect(payload.sub).toBe('system:serviceaccount:ns:sa');
    expect((await send('GET', '/openid/v1/jwks', bearer('admintoken', { accept: 'application/json' }))).code).toBe(406);
  });

  it('a 403 names user, resource and namespace, with nosniff', async () => {
    const { code, headers, body } = await send('GET', '/api/v1/namespaces/ns/secrets', bearer('alicetoken'));
    expect([code, body.reason]).toEqual([403, 'Forbidden']);
    expect(body.message).toBe('secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" in the namespace "ns"');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
  });
});

describe('token requests', () => {
  const request = (spec: object, name = 'sa', metadata: object = {}) =>
    send('POST', `/api/v1/namespaces/ns/serviceaccounts/${name}/token`, { ...bearer('admintoken'), body: { metadata, spec } });

  it('bind a token to a pod, with the claim of its node', async () => {
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
    // Pod tokens requested for an hour are valid for a year, for clients that do not renew them in time.
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
  ])('%s are rejected', async (_, spec, name, metadata, code) => {
    expect((await request(spec, name, metadata)).code).toBe(code);
  });
});

describe('pods/exec and pods/proxy', () => {
  it('exec by GET needs the verb create, proxy does not', async () => {
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
  it('needs the verb impersonate on users, groups, uids and extras', async () => {
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

  it('is limited to the granted verbs when it is constrained', async () => {
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
