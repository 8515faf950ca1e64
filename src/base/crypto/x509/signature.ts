import { type KeyObject, sign } from 'node:crypto';
import { lookupTable } from '../../lookup-table.ts';
import { bitString, der, oid, sequence, TAG } from './der.ts';

interface SignatureAlgorithm {
  readonly oid: string;
  readonly hash: string | null;
  /** RSA's algorithm has an explicit NULL parameter. */
  readonly hasNull?: boolean;
}

const CURVES = lookupTable<SignatureAlgorithm>({
  prime256v1: { oid: '1.2.840.10045.4.3.2', hash: 'sha256' },
  secp384r1: { oid: '1.2.840.10045.4.3.3', hash: 'sha384' },
  secp521r1: { oid: '1.2.840.10045.4.3.4', hash: 'sha512' },
});

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SignatureAlgorithm {
  if (asymmetricKeyType === 'rsa') return { oid: '1.2.840.113549.1.1.11', hash: 'sha256', hasNull: true };
  if (asymmetricKeyType === 'ed25519') return { oid: '1.3.101.112', hash: null };
  const curve = CURVES[asymmetricKeyDetails?.namedCurve ?? ''];
  if (curve === undefined) throw new RangeError(`certificates cannot be signed with a key of type ${asymmetricKeyType}`);
  return curve;
}

export function signatureAlgorithm(key: KeyObject): Buffer {
  const algorithm = algorithmOf(key);
  // bounded: spread lists have one item
  return sequence(oid(algorithm.oid), ...(algorithm.hasNull ? [der(TAG.null)] : []));
}

/** The signed content, the algorithm and the signature: the structure of certificates and requests. */
export function signed(content: Uint8Array, key: KeyObject): Buffer {
  return sequence(content, signatureAlgorithm(key), bitString(sign(algorithmOf(key).hash, content, key)));
}
