import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#base';
import { authenticate } from '../filters/authentication.ts';
import type { ApiRequest, ClientCertificate } from '../request/api-request.ts';
import type { UserInfo } from '../request/user.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { Authenticator } from './authenticator.ts';
import { BearerTokens, rejectionText } from './bearer-tokens.ts';
import { bootstrapTokens } from './bootstrap-tokens.ts';
import { clientCertificates } from './client-certificates.ts';
import { parseTokenFile, staticTokens } from './static-tokens.ts';

const clock = new VirtualClock();
const OK = { type: 'raw', code: 200, contentType: '', body: '' } as const;

interface Credentials {
  readonly headers?: Readonly<Record<string, string>>;
  readonly certificate?: Partial<ClientCertificate>;
}

const CERTIFICATE: ClientCertificate = {
  commonName: 'carol',
  organizations: ['ops'],
  uids: [],
  fingerprint: 'ab',
  notAfter: clock.now() + 1000,
};

function requestWith({ headers = {}, certificate }: Credentials): ApiRequest {
  const request = {
    header: (name: string) => headers[name],
    warnings: [],
    ...(certificate && { clientCertificate: { ...CERTIFICATE, ...certificate } }),
  };
  return request as unknown as ApiRequest;
}

const tokens = parseTokenFile('# people\nsecret,alice,alice-uid,"devs, ops"\n\nother,bob,\n');
const bearer = new BearerTokens([staticTokens(tokens)], ['api']);

async function whoIs(
  credentials: Credentials,
  options: { authenticators?: readonly Authenticator[]; anonymous?: boolean } = {},
): Promise<UserInfo> {
  const { authenticators = [clientCertificates(clock), bearer], anonymous = true } = options;
  const request = requestWith(credentials);
  await authenticate({ authenticators, allowsAnonymous: () => anonymous })(request, () => OK);
  return request.user!;
}

describe('authentication', () => {
  it.each([
    [
      'a token',
      { headers: { authorization: 'Bearer secret' } },
      { name: 'alice', uid: 'alice-uid', groups: ['devs', 'ops', 'system:authenticated'] },
    ],
    ['a token without groups', { headers: { authorization: 'Bearer other' } }, { name: 'bob', groups: ['system:authenticated'] }],
    ['a scheme in lower case', { headers: { authorization: 'bearer secret' } }, { name: 'alice' }],
    ['nothing', {}, { name: 'system:anonymous', groups: ['system:unauthenticated'] }],
    ['a scheme that nobody knows', { headers: { authorization: 'Basic eA==' } }, { name: 'system:anonymous' }],
    ['an empty token', { headers: { authorization: 'Bearer ' } }, { name: 'system:anonymous' }],
    [
      'a certificate',
      { certificate: {} },
      {
        name: 'carol',
        groups: ['ops', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab'] },
      },
    ],
    ['a certificate with a uid', { certificate: { uids: ['u'] } }, { name: 'carol', uid: 'u' }],
    ['a certificate without a name', { certificate: { commonName: '' } }, { name: 'system:anonymous' }],
    ['a certificate before a token', { certificate: {}, headers: { authorization: 'Bearer secret' } }, { name: 'carol' }],
    [
      'a token beside a certificate that is no good',
      { certificate: { problem: 'unknown authority' }, headers: { authorization: 'Bearer secret' } },
      { name: 'alice' },
    ],
    [
      'a token as a WebSocket protocol',
      {
        headers: {
          upgrade: 'websocket',
          'sec-websocket-protocol': `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`,
        },
      },
      { name: 'alice' },
    ],
  ])('by %s', async (_, credentials, user) => {
    expect(await whoIs(credentials)).toMatchObject(user);
  });

  it('warns of a space before a token', async () => {
    const request = requestWith({ headers: { authorization: 'Bearer  secret' } });
    await authenticate({ authenticators: [bearer], allowsAnonymous: () => true })(request, () => OK);
    expect(request).toMatchObject({
      user: { name: 'system:anonymous' },
      warnings: ['the provided Authorization header contains extra space before the bearer token, and is ignored'],
    });
  });

  it.each([
    ['a token that nobody knows', { headers: { authorization: 'Bearer nosuch' } }],
    ['a certificate of an unknown authority', { certificate: { problem: 'unknown authority' } }],
    ['a certificate that ended while its connection lived', { certificate: { notAfter: clock.now() - 1 } }],
    ['a certificate with two uids', { certificate: { uids: ['a', 'b'] } }],
    ['a certificate with an empty uid', { certificate: { uids: [''] } }],
    [
      'a token as the only WebSocket protocol',
      { headers: { upgrade: 'websocket', 'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.c2VjcmV0' } },
    ],
  ])('refuses %s, though nobody in particular would be let in', async (_, credentials) => {
    await expect(whoIs(credentials)).rejects.toMatchObject({ code: 401, message: 'Unauthorized' });
  });

  it('rejects anonymous requests when they are disabled', async () => {
    await expect(whoIs({}, { anonymous: false })).rejects.toMatchObject({ code: 401 });
  });
});

describe('a token that names no audience', () => {
  it('is for the API server alone', async () => {
    expect((await bearer.check('secret', ['api', 'x'])).response?.audiences).toEqual(['api']);
    expect(await bearer.check('secret', ['x'])).toEqual({ errors: [] });
  });
});

describe('the words of a refused review', () => {
  it.each([
    [[], 'invalid bearer token'],
    [['invalid bearer token'], 'invalid bearer token'],
    [['why'], '[invalid bearer token, why]'],
    [['why', 'why', 'else'], '[invalid bearer token, why, else]'],
  ])('%j', (errors, text) => {
    expect(rejectionText(errors)).toBe(text);
  });
});

describe('one kind of token after another', () => {
  it('is asked even when an earlier one refuses or has to wait', async () => {
    const refusing = { authenticateToken: () => Promise.reject(new Error('no')) };
    const both = new BearerTokens([refusing, staticTokens(tokens), refusing], ['api']);
    expect((await both.check('secret')).response?.user.name).toBe('alice');
    expect((await both.check('nosuch')).errors).toEqual(['no', 'no']);
  });
});

describe('a bootstrap token', () => {
  const good = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': 'system:bootstrappers:workers',
  };
  function check(changes: Record<string, string | undefined>, token = 'abcdef.0123456789abcdef', type = 'bootstrap.kubernetes.io/token') {
    const data = Object.entries({ ...good, ...changes }).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, Buffer.from(value).toString('base64')]],
    );
    const secret = {
      metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
      type,
      data: Object.fromEntries(data),
    } as unknown as KubeObject;
    const find = (namespace: string, name: string) =>
      namespace === 'kube-system' && name === 'bootstrap-token-abcdef' ? secret : undefined;
    const reader = { cached: find, current: async (namespace: string, name: string) => find(namespace, name) };
    return bootstrapTokens(reader, clock).authenticateToken(token, []);
  }

  it('stands for a user and groups that begin with what such users are', async () => {
    expect((await check({}))?.user).toEqual({
      name: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:bootstrappers:workers'],
    });
    expect((await check({ 'auth-extra-groups': undefined }))?.user.groups).toEqual(['system:bootstrappers']);
    expect(await check({ expiration: '2100-01-01T00:00:00Z' })).toBeDefined();
  });

  it.each([
    ['of another form', {}, 'abcdef-0123456789abcdef'],
    ['with another secret', {}, 'abcdef.0123456789abcdeF'.toLowerCase().replace(/f$/, '0')],
    ['of another name', {}, 'abcdeg.0123456789abcdef'],
    ['whose secret says another id', { 'token-id': 'zzzzzz' }],
    ['that is not for this', { 'usage-bootstrap-authentication': 'false' }],
    ['that has expired', { expiration: '2001-01-01T00:00:00Z' }],
    ['whose end cannot be read', { expiration: 'soon' }],
    ['with a group it must not give', { 'auth-extra-groups': 'system:masters' }],
    ['in a secret of another type', {}, undefined, 'Opaque'],
  ] as const)('%s stands for nobody', async (_, changes, token?: string, type?: string) => {
    expect(await check(changes, token, type)).toBeUndefined();
  });
});

describe('a token file', () => {
  it.each(['a', 'a,', ',name,uid', '"a,b",'])('with the line %j is refused', (line) => {
    expect(() => parseTokenFile(line)).toThrow(/line 1 of the token file/);
  });
});
