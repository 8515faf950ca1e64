import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { lookupTable } from '#base';

/** A verification key. */
export interface VerificationKey {
  /** Derived from the public key, so that it is the same on all servers. */
  readonly id: string;
  readonly algorithm: string;
  readonly key: KeyObject;
}

export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

/** Service account keys: one signs, all verify, so that keys can be rotated. */
export interface ServiceAccountKeys {
  /** Absent in a server that issues no tokens. */
  readonly signing?: SigningKey;
  readonly verification: readonly VerificationKey[];
}

export interface KeyMaterial {
  /** PEM of the signing key, or a function that creates it. */
  readonly signing?: string | (() => Promise<string>);
  /** PEMs of additional verification keys: public, or private ones whose public part is used. */
  readonly verification?: readonly string[];
}

type ReadyMaterial = KeyMaterial & { readonly signing?: string };

const CURVES = lookupTable<string>({ prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' });

/** Returns the keys, possibly after creating one. */
export type KeySource = () => ServiceAccountKeys | Promise<ServiceAccountKeys>;

/** Parses existing keys at once; throws like `serviceAccountKeys`. */
export function keySource({ signing, verification = [] }: KeyMaterial): KeySource {
  let keys = typeof signing === 'function' ? undefined : serviceAccountKeys({ ...(signing && { signing }), verification });
  const create = async (make: () => Promise<string>) => {
    keys ??= serviceAccountKeys({ signing: await make(), verification });
    return keys;
  };
  return () => keys ?? create(signing as () => Promise<string>);
}

/** Parses keys. Throws unless they are RSA or NIST elliptic-curve keys. */
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
