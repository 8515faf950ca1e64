import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { core } from '#api';
import { lookupTable } from '#base';

const ISSUER = 'kubernetes/serviceaccount';
const CURVES = lookupTable<{ readonly algorithm: string; readonly hash: string }>({
  prime256v1: { algorithm: 'ES256', hash: 'sha256' },
  secp384r1: { algorithm: 'ES384', hash: 'sha384' },
  secp521r1: { algorithm: 'ES512', hash: 'sha512' },
});

/** Signs the tokens of token secrets: bound to their account and secret, without expiry. */
export class AccountTokenSigner {
  readonly #key: KeyObject;
  readonly #header: { readonly alg: string; readonly kid: string };
  readonly #hash: string;

  /** Throws unless it is an RSA or NIST elliptic-curve key in PEM. */
  constructor(privateKeyPem: string) {
    this.#key = createPrivateKey(privateKeyPem);
    const { algorithm, hash } = methodFor(this.#key);
    const spki = createPublicKey(this.#key).export({ type: 'spki', format: 'der' });
    this.#hash = hash;
    this.#header = { alg: algorithm, kid: createHash('sha256').update(spki).digest('base64url') };
  }

  sign(account: core.ServiceAccount, secret: core.Secret): string {
    const { name, namespace = '', uid } = account.metadata;
    const claims = {
      iss: ISSUER,
      'kubernetes.io/serviceaccount/namespace': namespace,
      'kubernetes.io/serviceaccount/secret.name': secret.metadata.name,
      'kubernetes.io/serviceaccount/service-account.name': name,
      'kubernetes.io/serviceaccount/service-account.uid': uid,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const signed = `${encode(this.#header)}.${encode(claims)}`;
    const signature = sign(this.#hash, Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
}

function methodFor(key: KeyObject): { readonly algorithm: string; readonly hash: string } {
  if (key.asymmetricKeyType === 'rsa') return { algorithm: 'RS256', hash: 'sha256' };
  const method = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (method === undefined) throw new Error('the key of service account tokens must be RSA, or on the curve P-256, P-384 or P-521');
  return method;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
