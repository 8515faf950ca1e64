import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { accountOf, isTokenOf, reconcileToken, TOKEN_SECRET_TYPE } from './reconcile.ts';
import { AccountTokenSigner } from './sign-account-token.ts';

const account = { metadata: { name: 'sa', namespace: 'ns', uid: 'u1' } };
const secret = {
  metadata: { name: 't', namespace: 'ns', annotations: { 'kubernetes.io/service-account.name': 'sa' } },
  type: TOKEN_SECRET_TYPE,
};
const base64 = (text: string) => Buffer.from(text).toString('base64');
const fill = (tokenSecret: Parameters<typeof reconcileToken>[0], rootCa: string | undefined = 'CA') =>
  reconcileToken(tokenSecret, { account, rootCa, sign: () => 'TOKEN' });

describe('a secret for the token of a service account', () => {
  it('gets token, namespace and certificate, and says whose it is', () => {
    const filled = fill(secret);
    expect(filled?.data).toEqual({ 'ca.crt': base64('CA'), namespace: base64('ns'), token: base64('TOKEN') });
    expect(filled?.metadata.annotations?.['kubernetes.io/service-account.uid']).toBe('u1');
    expect(fill(filled!)).toBeUndefined();
  });

  it('keeps its token and what else it holds when the certificate changes', () => {
    const filled = fill({ ...secret, data: { token: base64('old'), more: base64('x') } });
    expect(filled?.data).toMatchObject({ token: base64('old'), more: base64('x'), 'ca.crt': base64('CA') });
  });

  it('belongs to the account that it names, and to no namesake', () => {
    const own = {
      ...secret,
      metadata: { ...secret.metadata, annotations: { ...secret.metadata.annotations, 'kubernetes.io/service-account.uid': 'u1' } },
    };
    expect(accountOf({ ...secret, type: 'Opaque' })).toBeUndefined();
    expect(isTokenOf(secret, account)).toBe(true);
    expect(isTokenOf(own, account)).toBe(true);
    expect(isTokenOf(own, { metadata: { ...account.metadata, uid: 'u2' } })).toBe(false);
    expect(isTokenOf(own, { metadata: { ...account.metadata, namespace: 'other' } })).toBe(false);
  });
});

describe('signing such tokens', () => {
  const keys = {
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  };
  it.each(Object.entries(keys))('works with %s', (algorithm, key) => {
    const token = new AccountTokenSigner(key.export({ type: 'pkcs8', format: 'pem' }).toString()).sign(account, secret);
    const [header = '', payload = '', signature = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: algorithm, kid: expect.any(String) });
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      iss: 'kubernetes/serviceaccount',
      sub: 'system:serviceaccount:ns:sa',
      'kubernetes.io/serviceaccount/secret.name': 't',
      'kubernetes.io/serviceaccount/service-account.uid': 'u1',
    });
    const hash = algorithm === 'ES384' ? 'sha384' : 'sha256';
    const verified = verify(
      hash,
      Buffer.from(`${header}.${payload}`),
      { key: createPublicKey(key), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    expect(verified).toBe(true);
  });

  it('refuses other keys', () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(() => new AccountTokenSigner(pem)).toThrow('must be RSA, or on the curve');
  });
});
