import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import type { Random } from '../../random.ts';
import { contextTag, der, integer, sequence, sequenceOf, TAG, time } from './der.ts';
import { childrenOf, type DerElement, readElement } from './der-reader.ts';
import {
  authorityKeyExtension,
  basicConstraintsExtension,
  EXTENSION,
  type ExtendedKeyUsage,
  extendedKeyUsageExtension,
  extension,
  type KeyUsage,
  keyUsageExtension,
  readExtension,
  subjectKeyExtension,
} from './extensions.ts';
import { type AlternativeNames, type DecodedSubject, decodeSubject, encodeAlternativeNames, encodeSubject, type Subject } from './names.ts';
import { encodePem } from './pem.ts';
import { signatureAlgorithm, signed } from './signature.ts';

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Signs certificates. */
export interface Authority {
  readonly privateKey: KeyObject;
  /** The name, as the authority's own certificate has it. */
  readonly name: Uint8Array;
  readonly keyId: Uint8Array;
  /** Milliseconds since the epoch: nothing it signs counts for longer. */
  readonly notAfter: number;
}

export interface CertificateTemplate extends AlternativeNames {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority?: boolean;
  readonly keyUsages?: readonly KeyUsage[];
  readonly extendedKeyUsages?: readonly ExtendedKeyUsage[];
}

/** Makes a certificate, in PEM. */
export function signCertificate(template: CertificateTemplate, authority: Authority, random: Random): string {
  const { publicKey, notBefore, notAfter } = template;
  const content = sequence(
    der(contextTag(0, true), integer(Buffer.from([2]))),
    integer(serialNumber(random)),
    signatureAlgorithm(authority.privateKey),
    authority.name,
    sequence(time(notBefore), time(notAfter)),
    encodeSubject(template.subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(contextTag(3, true), sequenceOf(extensionsOf(template, authority))),
  );
  return encodePem('CERTIFICATE', signed(content, authority.privateKey));
}

/** Positive, and too large to guess or to meet twice. */
function serialNumber(random: Random): Uint8Array {
  const bytes = Buffer.from(random.bytes(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x01;
  return bytes;
}

function extensionsOf(template: CertificateTemplate, { keyId }: Authority): readonly Buffer[] {
  const { isAuthority = false, keyUsages = [], extendedKeyUsages = [], publicKey } = template;
  const names = encodeAlternativeNames(template);
  return [
    ...(keyUsages.length > 0 ? [keyUsageExtension(keyUsages)] : []),
    ...(extendedKeyUsages.length > 0 ? [extendedKeyUsageExtension(extendedKeyUsages)] : []),
    basicConstraintsExtension(isAuthority),
    ...(isAuthority ? [subjectKeyExtension(keyIdOf(publicKey))] : [authorityKeyExtension(keyId)]),
    ...(names === undefined ? [] : [extension(EXTENSION.subjectAlternativeName, names)]),
  ];
}

/** A short name of a public key: the hash of its bits. */
function keyIdOf(publicKey: KeyObject): Buffer {
  const [, bits] = childrenOf(readElement(publicKey.export({ type: 'spki', format: 'der' })));
  return createHash('sha1').update(bits!.content.subarray(1)).digest();
}

export function newPrivateKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

export interface AuthorityOptions {
  readonly subject: Subject;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A new authority that vouches for itself. */
export function createAuthority({ subject, notBefore, notAfter }: AuthorityOptions, random: Random): KeyPair {
  const privateKey = newPrivateKey();
  const publicKey = createPublicKey(privateKey);
  const self: Authority = { privateKey, name: encodeSubject(subject), keyId: keyIdOf(publicKey), notAfter };
  const usages = { isAuthority: true, keyUsages: ['digitalSignature', 'keyEncipherment', 'certSign'] } as const;
  const certificate = signCertificate({ subject, publicKey, notBefore, notAfter, ...usages }, self, random);
  return { certificate, key: privateKeyPem(privateKey) };
}

/** Reads an authority. Throws when the key is not that of the certificate. */
export function loadAuthority({ certificate, key }: KeyPair): Authority {
  const parsed = new X509Certificate(certificate);
  const privateKey = createPrivateKey(key);
  if (!parsed.checkPrivateKey(privateKey)) throw new Error('the private key does not belong to the certificate of the authority');
  const fields = certificateFields(parsed.raw);
  return { privateKey, name: fields.subject, keyId: fields.keyId ?? keyIdOf(parsed.publicKey), notAfter: Date.parse(parsed.validTo) };
}

/** Whom a certificate, in DER, is for. Throws DerError. */
export function readCertificateSubject(certificate: Uint8Array): DecodedSubject {
  return decodeSubject(readElement(certificateFields(certificate).subject));
}

interface CertificateFields {
  readonly subject: Uint8Array;
  readonly keyId: Uint8Array | undefined;
}

function certificateFields(raw: Uint8Array): CertificateFields {
  const content = childrenOf(childrenOf(readElement(raw))[0]!);
  // The version comes first, unless it is the oldest.
  const subject = content[content[0]?.tag === contextTag(0, true) ? 5 : 4]!;
  const extensions = content.find(({ tag }) => tag === contextTag(3, true));
  const value = extensions && extensionValue(childrenOf(extensions)[0]!, EXTENSION.subjectKeyIdentifier);
  return { subject: subject.whole, keyId: value && readElement(value).content };
}

/** The value of one of a list of extensions. */
export function extensionValue(extensions: DerElement, type: string): Uint8Array | undefined {
  return childrenOf(extensions, TAG.sequence)
    .map(readExtension)
    .find((entry) => entry.type === type)?.value;
}
