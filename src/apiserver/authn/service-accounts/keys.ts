import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** A key that tokens are verified with. */
export interface VerificationKey {
  /** Derived from the public key, so that every server that holds the key calls it the same. */
  readonly id: string;
  readonly algorithm: string;
  readonly key: KeyObject;
}

export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

/** The keys of service account tokens: one signs, all of them verify, so that a new key can take over while old tokens live on. */
export interface ServiceAccountKeys {
  /** Absent in a server that accepts tokens but issues none. */
  readonly signing?: SigningKey;
  readonly verification: readonly VerificationKey[];
}

export interface KeyMaterial {
  /** PEM of the private key that signs, or how to come by one that is not made yet. */
  readonly signing?: string | (() => Promise<string>);
  /** PEMs of keys that tokens may also be signed with: public, or private ones whose public half counts. */
  readonly verification?: readonly string[];
}

type ReadyMaterial = KeyMaterial & { readonly signing?: string };

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/** Asks for keys, some of which may have to be made first. */
export type KeySource = () => ServiceAccountKeys | Promise<ServiceAccountKeys>;

/** Reads what is there at once; throws as `serviceAccountKeys` does. */
export function keySource({ signing, verification = [] }: KeyMaterial): KeySource {
  let keys = typeof signing === 'function' ? undefined : serviceAccountKeys({ ...(signing && { signing }), verification });
  const made = async (make: () => Promise<string>) => {
    keys ??= serviceAccountKeys({ signing: await make(), verification });
    return keys;
  };
  return () => keys ?? made(signing as () => Promise<string>);
}

/** Reads keys. Throws on what is no RSA or NIST elliptic-curve key. */
export function serviceAccountKeys({ signing, verification = [] }: ReadyMaterial): ServiceAccountKeys {
  const signer = signing === undefined ? undefined : signingKey(signing);
  const all = [...(signer ? [signer] : []), ...verification.map((pem) => verificationKey(createPublicKey(pem)))];
  const distinct = new Map(all.map(({ id, algorithm, key }) => [id, { id, algorithm, key }]));
  if (distinct.size === 0) throw new Error('service account tokens need at least one key');
  return { ...(signer && { signing: signer }), verification: [...distinct.values()] };
}

function signingKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  return { ...verificationKey(createPublicKey(privateKey)), privateKey };
}

function verificationKey(key: KeyObject): VerificationKey {
  const der = key.export({ type: 'spki', format: 'der' });
  return { id: createHash('sha256').update(der).digest('base64url'), algorithm: algorithmOf(key), key };
}

function algorithmOf(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined) throw new Error('the key of service account tokens must be RSA, or on the curve P-256, P-384 or P-521');
  return algorithm;
}
