import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { realClock, seededRandom, VirtualClock } from '#base';
import { parseAuthenticationConfiguration } from './authentication-configuration.ts';
import { TestIssuer } from './issuer.test-server.ts';
import { JwtAuthenticator } from './jwt-authenticator.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await TestIssuer.start(seededRandom('oidc'));
});
afterAll(() => issuer[Symbol.asyncDispose]());
beforeEach(() => {
  issuer.overrides.clear();
  issuer.keys.splice(1);
});

interface Parts {
  readonly mappings?: string;
  readonly rules?: string;
  readonly issuer?: string;
}

const indent = (text: string) => text.trim().replaceAll('\n', '\n      ');

function configuration({ mappings = "username: {claim: sub, prefix: ''}", rules = '', issuer: extraFields = '' }: Parts = {}) {
  return `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: { url: '${issuer.url}', audiences: [sampan], certificateAuthority: ${JSON.stringify(issuer.authority)}${extraFields} }
  claimMappings:
      ${indent(mappings)}
  ${rules}
`;
}

function authenticator(parts: Parts = {}, clocks: { clock?: VirtualClock } = {}) {
  const { jwt } = parseAuthenticationConfiguration(configuration(parts), []);
  return new JwtAuthenticator(jwt[0]!, { clock: clocks.clock ?? realClock, realClock });
}

const check = async (token: string, parts: Parts = {}) => authenticator(parts).authenticateToken(token);
const refuse = async (token: string, message: string, parts: Parts = {}) =>
  expect((async () => check(token, parts))()).rejects.toThrow(message);

describe('an ID token', () => {
  it('authenticates its user', async () => {
    const mappings = `
username: {claim: email, prefix: 'oidc:'}
groups: {claim: roles, prefix: 'g:'}
uid: {claim: sub}
extra: [{key: example.com/team, valueExpression: claims.team}]`;
    const token = await issuer.token({
      sub: 'id-1',
      email: 'jane@example.com',
      email_verified: true,
      roles: ['a', 'b'],
      team: 'blue',
      jti: 'x',
    });
    expect(await check(token, { mappings })).toEqual({
      user: {
        name: 'oidc:jane@example.com',
        uid: 'id-1',
        groups: ['g:a', 'g:b'],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=x'], 'example.com/team': ['blue'] },
      },
    });
  });

  it('of another issuer is ignored', async () => {
    expect(await check(await issuer.token({ iss: 'https://other', sub: 'a' }))).toBeUndefined();
    expect(await check('no token')).toBeUndefined();
  });

  it('is mapped by CEL expressions, and rejected by validation rules', async () => {
    const parts: Parts = {
      mappings: `
username: {expression: "claims.email.split('@')[0] + (claims.email_verified ? '' : '?')"}
groups: {expression: "claims.roles.filter(r, r.startsWith('k8s-'))"}
uid: {expression: claims.sub}`,
      rules: `claimValidationRules: [{claim: hd, requiredValue: example.com}, {expression: "claims.exp - claims.iat <= 7200", message: too long}]
  userValidationRules: [{expression: "!user.username.startsWith('system:')", message: reserved}]`,
    };
    const iat = Math.floor(realClock.now() / 1000);
    const claims = { sub: 's', email: 'jane@x', email_verified: true, roles: ['k8s-a', 'b'], hd: 'example.com', iat };
    expect(await check(await issuer.token(claims), parts)).toEqual({ user: { name: 'jane', uid: 's', groups: ['k8s-a'] } });
    await refuse(
      await issuer.token({ ...claims, hd: 'evil' }),
      'required claim hd value does not match. Got = evil, want = example.com',
      parts,
    );
    await refuse(await issuer.token({ ...claims, hd: undefined }), 'required claim hd not present in ID token', parts);
    await refuse(await issuer.token({ ...claims, iat: iat - 90_000 }), 'too long', parts);
    await refuse(await issuer.token({ ...claims, email: 'system:admin@x' }), 'reserved', parts);
    await refuse(await issuer.token({ ...claims, roles: undefined }), 'error evaluating group claim expression', parts);
  });

  it('with an unverified e-mail address is rejected', async () => {
    const mappings = "username: {claim: email, prefix: ''}";
    await refuse(await issuer.token({ email: 'a@b', email_verified: false }), 'oidc: email not verified', { mappings });
    await refuse(await issuer.token({ email: 'a@b', email_verified: 'true' }), 'oidc: email not verified', { mappings });
    await refuse(await issuer.token({}), 'claim not present', { mappings });
  });

  it('is refused when it is for others, expired, or not yet valid', async () => {
    const seconds = Math.floor(realClock.now() / 1000);
    await refuse(await issuer.token({ sub: 'a', aud: 'others' }), 'expected audience in ["sampan"] got ["others"]');
    await refuse(await issuer.token({ sub: 'a', aud: undefined }), 'expected audience');
    await refuse(await issuer.token({ sub: 'a', exp: seconds - 1 }), 'token is expired');
    await refuse(await issuer.token({ sub: 'a', exp: undefined }), 'token is expired');
    await refuse(await issuer.token({ sub: 'a', nbf: seconds + 600 }), 'before the nbf');
    expect(await check(await issuer.token({ sub: 'a', nbf: seconds + 200, aud: ['x', 'sampan'] }))).toEqual({
      user: { name: 'a', groups: [] },
    });
  });

  it('is rejected once it expires, even if it was cached', async () => {
    const clock = new VirtualClock({ startMs: realClock.now() });
    const own = authenticator({}, { clock });
    const token = await issuer.token({ sub: 'a', exp: Math.floor(clock.now() / 1000) + 60 });
    expect(await own.authenticateToken(token)).toEqual({ user: { name: 'a', groups: [] } });
    await clock.advance(61_000);
    expect(() => own.authenticateToken(token)).toThrow('token is expired');
  });

  it('is no token when its text is another encoding of the same bytes', async () => {
    const token = await issuer.token({ sub: 'a' });
    const [head, payload, signature] = token.split('.');
    const own = authenticator();
    for (const other of [
      `${token}==`,
      `${head}.${payload}=.${signature}`,
      `${head}.${payload}.\n${signature}`,
      `${token}.`,
      `${head}..${signature}`,
    ])
      expect(own.authenticateToken(other)).toBeUndefined();
  });

  it('cannot be forged by naming another algorithm', async () => {
    const [, payload] = (await issuer.token({ sub: 'admin' })).split('.');
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const none = `${part({ alg: 'none', kid: 'one' })}.${payload}.`;
    const pem = createPublicKey(issuer.keys[0]!.privateKey).export({ type: 'spki', format: 'pem' }) as string;
    const head = part({ alg: 'HS256', kid: 'one' });
    const mac = createHmac('sha256', pem).update(`${head}.${payload}`).digest('base64url');
    await refuse(none, 'oidc: verify token');
    await refuse(`${head}.${payload}.${mac}`, 'oidc: verify token');
    const [realHead, , signature] = (await issuer.token({ sub: 'a' })).split('.');
    await refuse(`${realHead}.${payload}.${signature}`, 'signature verification failed');
  });
});

describe('the keys of an issuer', () => {
  it('are fetched again after a rotation', async () => {
    const own = authenticator();
    expect(await own.authenticateToken(await issuer.token({ sub: 'a' }))).toBeDefined();
    issuer.addKey('two', 'ec');
    // Keys were fetched recently: unknown key ids do not fetch them for each token.
    await expect
      .poll(async () => Promise.resolve(own.authenticateToken(await issuer.token({ sub: 'b' }))).catch(() => undefined), {
        timeout: 10_000,
      })
      .toEqual({
        user: { name: 'b', groups: [] },
      });
  });

  it('are not fetched again and again for unknown key ids', async () => {
    const own = authenticator();
    await own.authenticateToken(await issuer.token({ sub: 'a' }));
    const before = issuer.requests.length;
    const key = issuer.keys[0]!;
    for (let i = 0; i < 20; i++) {
      const token = await issuer.token({ sub: 'a' }, { key: { ...key, id: `made-up-${i}` } });
      await expect((async () => own.authenticateToken(token))()).rejects.toThrow();
    }
    expect(issuer.requests.length - before).toBeLessThan(20);
  });

  test.each([
    ['names another issuer', JSON.stringify({ issuer: 'https://evil' }), 'issuer did not match the issuer returned by provider'],
    ['names no keys', '{"issuer":"ISSUER"}', 'did not return a JWKS URL'],
    ['names keys without TLS', '{"issuer":"ISSUER","jwks_uri":"http://127.0.0.1/keys"}', 'did not return a JWKS URL of https'],
    ['is no JSON', '<html>', 'oidc: verify token'],
    ['is no object', '[]', 'did not answer with an object'],
    ['never ends', 'x'.repeat(3_000_000), 'is longer than 1048576 bytes'],
  ])('are not taken from a document that %s', async (_, body, message) => {
    issuer.overrides.set('/.well-known/openid-configuration', (response) => response.end(body.replace('ISSUER', issuer.url)));
    await refuse(await issuer.token({ sub: 'a' }), message);
  });

  it('are not fetched through a redirect, and their number is limited', async () => {
    issuer.overrides.set('/keys', (response) => response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end());
    await refuse(await issuer.token({ sub: 'a' }), 'answered 302');
    issuer.overrides.set('/keys', (response) => response.end(JSON.stringify({ keys: Array.from({ length: 1000 }, () => ({})) })));
    await refuse(await issuer.token({ sub: 'a' }), 'no list of at most 100 keys');
  });

  it('are found by another discovery address', async () => {
    issuer.overrides.set('/hidden', (response) => response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` })));
    const token = await issuer.token({ sub: 'a' });
    expect(await check(token, { issuer: `, discoveryURL: '${issuer.url}/hidden'` })).toEqual({ user: { name: 'a', groups: [] } });
  });

  it('are rejected if the certificate of the issuer is not trusted', async () => {
    const { jwt } = parseAuthenticationConfiguration(configuration().replace(/, certificateAuthority: "[^"]*"/, ''), []);
    const own = new JwtAuthenticator(jwt[0]!, { clock: realClock, realClock });
    await expect((async () => own.authenticateToken(await issuer.token({ sub: 'a' })))()).rejects.toThrow(/certificate|self-signed/);
  });
});

describe('groups that the token leaves to another server', () => {
  const mappings = "username: {claim: sub, prefix: ''}\ngroups: {claim: groups, prefix: 'g:'}";
  const distributed = (source: object) => ({ sub: 'a', _claim_names: { groups: 'src' }, _claim_sources: { src: source } });
  const endpoint = () => `${issuer.url}/groups`;

  /** Lets the issuer answer with a token of these claims, by whomever it is signed. */
  const serveGroups = async (claims: object, signer = issuer) => {
    const authorizations: unknown[] = [];
    const token = await signer.token(claims);
    issuer.overrides.set('/groups', (response) => {
      authorizations.push(response.req.headers.authorization);
      response.end(token);
    });
    return authorizations;
  };

  it('are read from there, with the access token, once for a token', async () => {
    const authorizations = await serveGroups({ groups: ['x', 'y'] });
    const own = authenticator({ mappings });
    const token = await issuer.token(distributed({ endpoint: endpoint(), access_token: 'secret' }));
    for (let i = 0; i < 2; i++) expect(await own.authenticateToken(token)).toEqual({ user: { name: 'a', groups: ['g:x', 'g:y'] } });
    expect(authorizations).toEqual(['Bearer secret']);
  });

  it('may be signed by another issuer', async () => {
    await using other = await TestIssuer.start(seededRandom('other issuer'));
    await serveGroups({ groups: 'x' }, other);
    const text = configuration({ mappings }).replace(JSON.stringify(issuer.authority), JSON.stringify(issuer.authority + other.authority));
    const own = new JwtAuthenticator(parseAuthenticationConfiguration(text, []).jwt[0]!, { clock: realClock, realClock });
    const token = await issuer.token(distributed({ endpoint: endpoint() }));
    expect(await own.authenticateToken(token)).toEqual({ user: { name: 'a', groups: ['g:x'] } });
  });

  it('are not asked for where the token has them, names no source for them, or aggregates them', async () => {
    const authorizations = await serveGroups({ groups: ['x'] });
    const own = authenticator({ mappings });
    const groupsOf = async (claims: object) => (await own.authenticateToken(await issuer.token(claims)))?.user.groups;
    expect(await groupsOf({ ...distributed({ endpoint: endpoint() }), groups: ['own'] })).toEqual(['g:own']);
    expect(await groupsOf({ ...distributed({ endpoint: endpoint() }), _claim_names: { roles: 'src' } })).toEqual([]);
    expect(await groupsOf(distributed({ JWT: 'aggregated' }))).toEqual([]);
    expect(authorizations).toEqual([]);
  });

  it('are not asked for where an expression yields them', async () => {
    const expression = "username: {claim: sub, prefix: ''}\ngroups: {expression: \"claims.?groups.orValue(['none'])\"}";
    const token = await issuer.token(distributed({ endpoint: endpoint() }));
    expect((await check(token, { mappings: expression }))?.user.groups).toEqual(['none']);
  });

  test.each([
    ['the answer is for others', { aud: 'others', groups: ['x'] }, 'verify distributed claim token: oidc: expected audience'],
    ['the answer is expired', { exp: 1, groups: ['x'] }, 'verify distributed claim token: oidc: token is expired'],
    ['the answer is without them', {}, 'did not contain claim: groups'],
  ])('keep the user out where %s', async (_, claims, message) => {
    await serveGroups(claims);
    await refuse(await issuer.token(distributed({ endpoint: endpoint() })), message, { mappings });
  });

  test.each([
    ['no source has the name', { _claim_sources: {} }, 'contained a source src missing in _claims_sources'],
    ['there are no sources', { _claim_sources: undefined }, 'oidc: no claim sources'],
    ['the names are no map', { _claim_names: ['groups'] }, 'oidc: error parsing distributed claim names'],
    ['the sources are no map', { _claim_sources: 'src' }, 'oidc: could not parse claim sources'],
  ])('keep the user out where %s', async (_, claims, message) => {
    await refuse(await issuer.token({ ...distributed({ endpoint: endpoint() }), ...claims }), message, { mappings });
  });

  it('keep the user out where nobody answers, or with something else than a token', async () => {
    const token = await issuer.token(distributed({ endpoint: endpoint() }));
    issuer.overrides.set('/groups', (response) => response.writeHead(500).end());
    await refuse(token, 'while getting distributed claim "groups"', { mappings });
    issuer.overrides.set('/groups', (response) => response.end('hello'));
    await refuse(token, 'getting untrusted issuer from endpoint', { mappings });
  });
});

describe('an AuthenticationConfiguration', () => {
  const parse = (jwt: string, rest = '') =>
    parseAuthenticationConfiguration(`{apiVersion: apiserver.config.k8s.io/v1, kind: AuthenticationConfiguration, jwt: [${jwt}]${rest}}`, [
      'https://own',
    ]);
  const entry = (issuerFields: string, mappings = "username: {claim: sub, prefix: ''}", extraFields = '') =>
    `{issuer: {${issuerFields}}, claimMappings: {${mappings}}${extraFields}}`;
  const GOOD = 'url: "https://a", audiences: [x]';

  test.each([
    [entry('audiences: [x]'), 'jwt[0].issuer.url: Required value'],
    [entry('url: "http://a", audiences: [x]'), 'URL scheme must be https'],
    [entry('url: "https://own", audiences: [x]'), 'URL must not overlap with disallowed issuers: [https://own]'],
    [entry('url: "https://a"'), 'at least one jwt[0].issuer.audiences is required'],
    [entry('url: "https://a", audiences: [x, z]'), 'audienceMatchPolicy must be MatchAny for multiple audiences'],
    [entry(`${GOOD}, certificateAuthority: nonsense`), 'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>"'],
    [entry(`${GOOD}, discoveryURL: "https://a/"`), 'discoveryURL must be different from URL'],
    [`${entry(GOOD)}, ${entry(GOOD)}`, 'jwt[1].issuer.url: Duplicate value: "https://a"'],
    [entry(GOOD, ''), 'jwt[0].claimMappings.username: Required value: claim or expression is required'],
    [entry(GOOD, 'username: {claim: sub}'), 'prefix is required when claim is set'],
    [entry(GOOD, "username: {claim: sub, expression: claims.sub, prefix: ''}"), "claim and expression can't both be set"],
    [entry(GOOD, 'username: {expression: "claims.("}'), 'compilation failed'],
    [entry(GOOD, 'username: {expression: "1 + 1"}'), 'must evaluate to'],
    [entry(GOOD, 'username: {expression: claims.email}'), 'claims.email_verified must be used in'],
    [entry(GOOD, "username: {claim: sub, prefix: ''}, extra: [{key: foo, valueExpression: claims.a}]"), 'must be a domain-prefixed path'],
    [
      entry(GOOD, "username: {claim: sub, prefix: ''}, extra: [{key: k8s.io/a, valueExpression: claims.a}]"),
      'are reserved for Kubernetes use',
    ],
    [
      entry(GOOD, undefined, ', claimValidationRules: [{}]'),
      'jwt[0].claimValidationRules[0]: Required value: claim or expression is required',
    ],
    [entry(GOOD, undefined, ', userValidationRules: [{expression: user.nope}]'), 'undefined field'],
    [entry(GOOD, undefined, ', colour: red'), 'strict decoding error: jwt[0].colour'],
  ])('is refused: %s', (jwt, message) => {
    expect(() => parse(jwt)).toThrow(message);
  });

  it('lets anonymous requests in at some paths only', () => {
    const { anonymous } = parse('', ', anonymous: {enabled: true, conditions: [{path: /livez}]}');
    expect(anonymous).toEqual({ enabled: true, paths: new Set(['/livez']) });
    expect(() => parse('', ', anonymous: {enabled: false, conditions: [{path: /livez}]}')).toThrow('enabled should be set to true');
  });
});
