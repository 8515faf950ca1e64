import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { contextTag, der, integer, oid, sequence, TAG } from './der.ts';
import {
  childrenOf,
  type DerElement,
  DerError,
  expectSequence,
  readBitString,
  readOid,
  readOnlyElement,
  structureError,
  syntaxError,
} from './der-reader.ts';
import { EXTENSION, extension, readExtension } from './extensions.ts';
import {
  type AlternativeNames,
  type DecodedSubject,
  decodeAlternativeNames,
  decodeSubject,
  encodeAlternativeNames,
  encodeSubject,
  type Subject,
} from './names.ts';
import { decodePem, encodePem } from './pem.ts';
import { signed } from './signature.ts';

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const PEM_TYPE = 'CERTIFICATE REQUEST';

/** The content of a certificate request. `checkRequestSignature` verifies possession of the key. */
export interface RequestedCertificate extends Required<AlternativeNames> {
  readonly subject: DecodedSubject;
  readonly publicKey: KeyObject;
  readonly proof: Proof;
}

/** The signed part. */
interface Proof {
  readonly content: Uint8Array;
  /** An object identifier. */
  readonly algorithm: string;
  readonly signature: Uint8Array;
}

/** Creates a PEM request, signed with its own key. */
export function createCertificateRequest(privateKey: KeyObject, names: AlternativeNames & { readonly subject: Subject }): string {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const alternatives = encodeAlternativeNames(names);
  const attributes = alternatives === undefined ? [] : [extensionRequest(extension(EXTENSION.subjectAlternativeName, alternatives))];
  // bounded: spread lists have one item
  const content = sequence(integer(Buffer.from([0])), encodeSubject(names.subject), publicKey, der(contextTag(0, true), ...attributes));
  return encodePem(PEM_TYPE, signed(content, privateKey));
}

function extensionRequest(...extensions: readonly Buffer[]): Buffer {
  return sequence(oid(EXTENSION_REQUEST), der(TAG.set, sequence(...extensions)));
}

/** Parses the first block of a text, which must be a request. Throws DerError. */
export function readCertificateRequest(pem: string): RequestedCertificate {
  const bytes = decodePem(PEM_TYPE, pem);
  if (bytes === undefined) throw new DerError(`PEM block type must be ${PEM_TYPE}`);
  expectSequence(bytes, 'certificateRequest');
  const request = readOnlyElement(bytes);
  expectSequence(request.content, 'tbsCertificateRequest');
  const [content, algorithm, signature] = childrenOf(request);
  if (content === undefined || algorithm === undefined || signature === undefined) throw syntaxError('sequence truncated');
  expectSequence(algorithm.encoded, 'AlgorithmIdentifier');
  const [version, subject, publicKey, attributes] = childrenOf(content);
  if (version?.tag !== TAG.integer || !subject || !publicKey || !attributes) throw syntaxError('sequence truncated');
  if (attributes.tag !== contextTag(0, true)) throw structureError("tags don't match");
  const [signatureAlgorithm] = childrenOf(algorithm);
  if (signatureAlgorithm === undefined) throw syntaxError('sequence truncated');
  const names = alternativeNames(attributes);
  return {
    subject: decodeSubject(subject),
    publicKey: readPublicKey(publicKey),
    ...(names === undefined ? { dnsNames: [], ipAddresses: [], emails: [], uris: [] } : decodeAlternativeNames(readOnlyElement(names))),
    proof: { content: content.encoded, algorithm: readOid(signatureAlgorithm), signature: readBitString(signature) },
  };
}

/** The algorithms that Go supports. */
const CURVES: ReadonlySet<string | undefined> = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']);

function readPublicKey({ encoded: whole }: DerElement): KeyObject {
  const key = publicKeyOf(whole);
  if (key.asymmetricKeyType === 'ec' && !CURVES.has(key.asymmetricKeyDetails?.namedCurve)) {
    throw new DerError('x509: unsupported elliptic curve');
  }
  return key;
}

function publicKeyOf(der: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new DerError('x509: malformed public key', { cause });
  }
}

function alternativeNames(attributes: DerElement): Uint8Array | undefined {
  const values = new Map<string, Uint8Array>();
  for (const attribute of childrenOf(attributes)) {
    for (const { type, value } of requestedExtensions(attribute)) {
      if (values.has(type)) throw new DerError('x509: certificate request contains duplicate requested extensions');
      values.set(type, value);
    }
  }
  return values.get(EXTENSION.subjectAlternativeName);
}

/** Unknown attributes are ignored. */
function requestedExtensions(attribute: DerElement): readonly { readonly type: string; readonly value: Uint8Array }[] {
  const [type, values] = attribute.tag === TAG.sequence ? childrenOf(attribute) : [];
  if (type?.tag !== TAG.oid || values?.tag !== TAG.set || readOid(type) !== EXTENSION_REQUEST) return [];
  const [extensions] = childrenOf(values);
  if (extensions === undefined) return [];
  if (extensions.tag !== TAG.sequence) throw structureError("tags don't match");
  return childrenOf(extensions, TAG.sequence).map(readExtension);
}

interface Algorithm {
  readonly hash: string | null;
  readonly keyType: string;
  readonly failure: string;
}

const RSA = { keyType: 'rsa', failure: 'crypto/rsa: verification error' };
const ECDSA = { keyType: 'ec', failure: 'x509: ECDSA verification failure' };
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['1.2.840.113549.1.1.11', { hash: 'sha256', ...RSA }],
  ['1.2.840.113549.1.1.12', { hash: 'sha384', ...RSA }],
  ['1.2.840.113549.1.1.13', { hash: 'sha512', ...RSA }],
  ['1.2.840.10045.4.3.2', { hash: 'sha256', ...ECDSA }],
  ['1.2.840.10045.4.3.3', { hash: 'sha384', ...ECDSA }],
  ['1.2.840.10045.4.3.4', { hash: 'sha512', ...ECDSA }],
  ['1.3.101.112', { hash: null, keyType: 'ed25519', failure: 'x509: Ed25519 verification failure' }],
]);
const INSECURE: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.4', 'MD5-RSA'],
  ['1.2.840.113549.1.1.5', 'SHA1-RSA'],
  ['1.2.840.10045.4.1', 'ECDSA-SHA1'],
]);

/** Verifies that the request was signed with its own key. Throws DerError. */
export function checkRequestSignature({ publicKey, proof }: RequestedCertificate): void {
  const insecure = INSECURE.get(proof.algorithm);
  if (insecure !== undefined) throw new DerError(`x509: cannot verify signature: insecure algorithm ${insecure}`);
  const algorithm = ALGORITHMS.get(proof.algorithm);
  if (algorithm === undefined) throw new DerError('x509: cannot verify signature: algorithm unimplemented');
  if (publicKey.asymmetricKeyType !== algorithm.keyType || !isSigned(publicKey, proof, algorithm)) throw new DerError(algorithm.failure);
}

function isSigned(publicKey: KeyObject, { content, signature }: Proof, { hash }: Algorithm): boolean {
  try {
    return verify(hash, content, publicKey, signature);
  } catch {
    // An unusable key verifies nothing.
    return false;
  }
}
