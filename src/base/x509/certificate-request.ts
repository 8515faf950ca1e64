import { createPublicKey, type KeyObject } from 'node:crypto';
import { extensionValue } from './certificate.ts';
import { childrenOf, contextTag, type DerElement, DerError, der, integer, oid, oidText, readElement, sequence, TAG } from './der.ts';
import { EXTENSION, extension } from './extensions.ts';
import {
  type AlternativeNames,
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

/** What a request asks a certificate for. That its sender holds the key is not checked here. */
export interface RequestedCertificate extends Required<AlternativeNames> {
  readonly subject: Required<Subject>;
  /** As it stands in the request. */
  readonly subjectDer: Uint8Array;
  readonly publicKey: KeyObject;
}

/** Makes a request, in PEM, signed with the key that it asks a certificate for. */
export function createCertificateRequest(privateKey: KeyObject, names: AlternativeNames & { readonly subject: Subject }): string {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const alternatives = encodeAlternativeNames(names);
  const attributes = alternatives === undefined ? [] : [extensionRequest(extension(EXTENSION.subjectAlternativeName, alternatives))];
  const content = sequence(integer(Buffer.from([0])), encodeSubject(names.subject), publicKey, der(contextTag(0, true), ...attributes));
  return encodePem(PEM_TYPE, signed(content, privateKey));
}

function extensionRequest(...extensions: readonly Buffer[]): Buffer {
  return sequence(oid(EXTENSION_REQUEST), der(TAG.set, sequence(...extensions)));
}

/** Reads a request. Throws when it is none. */
export function readCertificateRequest(pem: string): RequestedCertificate {
  const bytes = decodePem(PEM_TYPE, pem);
  if (bytes === undefined) throw new DerError(`PEM block type must be ${PEM_TYPE}`);
  const [content] = childrenOf(readElement(bytes));
  const [, subject, publicKey, attributes] = content === undefined ? [] : childrenOf(content);
  if (subject === undefined || publicKey === undefined) throw new DerError('malformed certificate request');
  const names = attributes && alternativeNames(attributes);
  return {
    subject: decodeSubject(subject),
    subjectDer: subject.whole,
    publicKey: createPublicKey({ key: Buffer.from(publicKey.whole), format: 'der', type: 'spki' }),
    ...(names === undefined ? { dnsNames: [], ipAddresses: [], emails: [], uris: [] } : decodeAlternativeNames(readElement(names))),
  };
}

function alternativeNames(attributes: DerElement): Uint8Array | undefined {
  for (const attribute of childrenOf(attributes)) {
    const [type, values] = childrenOf(attribute);
    if (type === undefined || values === undefined || oidText(type.content) !== EXTENSION_REQUEST) continue;
    const [extensions] = childrenOf(values);
    return extensions && extensionValue(extensions, EXTENSION.subjectAlternativeName);
  }
  return undefined;
}
