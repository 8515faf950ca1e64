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

/** A certificate authority. */
export interface Authority {
  readonly privateKey: KeyObject;
  /** The subject, as in the authority's own certificate. */
  readonly name: Uint8Array;
  readonly keyId: Uint8Array;
  /** Milliseconds since the epoch: limits everything it signs. */
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

/** Creates a PEM certificate. */
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

/** Positive, random and unique. */
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

/** The key identifier: the hash of the public key. */
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

/** A new self-signed authority. */
export function createAuthority({ subject, notBefore, notAfter }: AuthorityOptions, random: Random): KeyPair {
  const privateKey = newPrivateKey();
  const publicKey = createPublicKey(privateKey);
  const self: Authority = { privateKey, name: encodeSubject(subject), keyId: keyIdOf(publicKey), notAfter };
  const usages = { isAuthority: true, keyUsages: ['digitalSignature', 'keyEncipherment', 'certSign'] } as const;
  const certificate = signCertificate({ subject, publicKey, notBefore, notAfter, ...usages }, self, random);
  return { certificate, key: privateKeyPem(privateKey) };
}

/** Loads an authority. Throws if the key does not match the certificate. */
export function loadAuthority({ certificate, key }: KeyPair): Authority {
  const parsed = new X509Certificate(certificate);
  const privateKey = createPrivateKey(key);
  if (!parsed.checkPrivateKey(privateKey)) throw new Error('the private key does not belong to the certificate of the authority');
  const fields = certificateFields(parsed.raw);
  return { privateKey, name: fields.subject, keyId: fields.keyId ?? keyIdOf(parsed.publicKey), notAfter: Date.parse(parsed.validTo) };
}

/** The subject of a DER certificate. Throws DerError. */
export function readCertificateSubject(certificate: Uint8Array): DecodedSubject {
  return decodeSubject(readElement(certificateFields(certificate).subject));
}

interface CertificateFields {
  readonly subject: Uint8Array;
  readonly keyId: Uint8Array | undefined;
}

function certificateFields(raw: Uint8Array): CertificateFields {
  const content = childrenOf(childrenOf(readElement(raw))[0]!);
  // The version precedes it, except in version 1.
  const subject = content[content[0]?.tag === contextTag(0, true) ? 5 : 4]!;
  const extensions = content.find(({ tag }) => tag === contextTag(3, true));
  const value = extensions && extensionValue(childrenOf(extensions)[0]!, EXTENSION.subjectKeyIdentifier);
  return { subject: subject.encoded, keyId: value && readElement(value).content };
}

/** The value of an extension. */
export function extensionValue(extensions: DerElement, type: string): Uint8Array | undefined {
  return childrenOf(extensions, TAG.sequence)
    .map(readExtension)
    .find((entry) => entry.type === type)?.value;
}
