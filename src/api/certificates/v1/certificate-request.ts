import { createPublicKey, verify } from 'node:crypto';

/** What a PKCS #10 request says, as far as the API looks at it. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The signed part, and what is needed to check it. */
  readonly info: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly signatureAlgorithm: string;
  readonly signature: Uint8Array;
}

export class CertificateRequestError extends Error {
  override readonly name = 'CertificateRequestError';
}

export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

const PEM = /-----BEGIN ([^-\n]*)-----\r?\n([\s\S]*?)-----END \1-----/g;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The PEM blocks of a text; what is between them is ignored, and so is a block that is no base64. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(PEM)].flatMap(([, type = '', body = '']) => {
    const hasHeaders = body.includes(':');
    const base64 = (hasHeaders ? (body.split(/\r?\n\r?\n/)[1] ?? '') : body).replace(/\s/g, '');
    return BASE64.test(base64) ? [{ type, hasHeaders, bytes: Buffer.from(base64, 'base64') }] : [];
  });
}

/** Parses a request in PEM. Throws CertificateRequestError. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const [block] = pemBlocks(pem);
  if (block?.type !== 'CERTIFICATE REQUEST') throw new CertificateRequestError('PEM block type must be CERTIFICATE REQUEST');
  const whole = sequenceAt(block.bytes, 0, 'certificateRequest');
  if (whole.end < block.bytes.length) throw syntaxError('trailing data');
  const info = sequenceAt(whole.content, 0, 'tbsCertificateRequest');
  const algorithm = sequenceAt(whole.content, info.end, 'AlgorithmIdentifier');
  const signature = elementAt(whole.content, algorithm.end);
  const [, subject, publicKey] = childrenOf(info);
  const [oid] = childrenOf(algorithm);
  if (!subject || !publicKey || !oid) throw syntaxError('sequence truncated');
  const names = subjectNames(subject);
  return {
    commonName: names.get(COMMON_NAME)?.at(-1) ?? '',
    organizations: names.get(ORGANIZATION) ?? [],
    info: info.whole,
    publicKey: publicKey.whole,
    signatureAlgorithm: oidText(oid.content),
    // A bit string begins with the number of unused bits.
    signature: signature.content.subarray(1),
  };
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';

function subjectNames(subject: Der): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const set of childrenOf(subject)) {
    for (const attribute of childrenOf(set)) {
      const [oid, value] = childrenOf(attribute);
      if (!oid || !value) throw syntaxError('sequence truncated');
      const key = oidText(oid.content);
      names.set(key, [...(names.get(key) ?? []), Buffer.from(value.content).toString()]);
    }
  }
  return names;
}

interface Algorithm {
  readonly hash: string | null;
  readonly failure: string;
}

const RSA_FAILURE = 'crypto/rsa: verification error';
const ECDSA_FAILURE = 'x509: ECDSA verification failure';
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['1.2.840.113549.1.1.11', { hash: 'sha256', failure: RSA_FAILURE }],
  ['1.2.840.113549.1.1.12', { hash: 'sha384', failure: RSA_FAILURE }],
  ['1.2.840.113549.1.1.13', { hash: 'sha512', failure: RSA_FAILURE }],
  ['1.2.840.10045.4.3.2', { hash: 'sha256', failure: ECDSA_FAILURE }],
  ['1.2.840.10045.4.3.3', { hash: 'sha384', failure: ECDSA_FAILURE }],
  ['1.2.840.10045.4.3.4', { hash: 'sha512', failure: ECDSA_FAILURE }],
  ['1.3.101.112', { hash: null, failure: 'x509: Ed25519 verification failure' }],
]);
const INSECURE: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.4', 'MD5-RSA'],
  ['1.2.840.113549.1.1.5', 'SHA1-RSA'],
  ['1.2.840.10045.4.1', 'ECDSA-SHA1'],
]);

/** Makes sure that the request was signed with the key it asks a certificate for. Throws CertificateRequestError. */
export function checkRequestSignature(request: CertificateRequest): void {
  const insecure = INSECURE.get(request.signatureAlgorithm);
  if (insecure) throw new CertificateRequestError(`x509: cannot verify signature: insecure algorithm ${insecure}`);
  const algorithm = ALGORITHMS.get(request.signatureAlgorithm);
  if (!algorithm) throw new CertificateRequestError('x509: cannot verify signature: algorithm unimplemented');
  if (!isSignedBy(request, algorithm)) throw new CertificateRequestError(algorithm.failure);
}

function isSignedBy({ info, publicKey, signature }: CertificateRequest, { hash }: Algorithm): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
    return verify(hash, info, key, signature);
  } catch {
    // A key that cannot be read signs nothing.
    return false;
  }
}

// --- DER, as much of it as a request has ---------------------------------------------------------------------------

interface Header {
  readonly tag: number;
  readonly length: number;
  /** Where the content begins. */
  readonly start: number;
}

interface Der {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
  /** Where the next element begins. */
  readonly end: number;
}

const CONSTRUCTED = 0x20;
const SEQUENCE = 0x30;
const MAX_LENGTH = 1 << 23;
// Go prints how the field that it fills is declared. A sequence is declared plainly.
const PLAIN_FIELD =
  '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}';

function syntaxError(problem: string): CertificateRequestError {
  return new CertificateRequestError(`asn1: syntax error: ${problem}`);
}

function structureError(problem: string): CertificateRequestError {
  return new CertificateRequestError(`asn1: structure error: ${problem}`);
}

function headerAt(bytes: Uint8Array, offset: number): Header {
  if (offset >= bytes.length) throw syntaxError('sequence truncated');
  const [tag = 0, first] = bytes.subarray(offset, offset + 2);
  if (first === undefined) throw syntaxError('truncated tag or length');
  if (first < 0x80) return { tag, length: first, start: offset + 2 };
  if (first === 0x80) throw syntaxError('indefinite length found (not DER)');
  const start = offset + 2 + (first & 0x7f);
  return { tag, length: longLength(bytes.subarray(offset + 2, start), first & 0x7f), start };
}

function longLength(bytes: Uint8Array, size: number): number {
  let length = 0;
  for (const byte of bytes) {
    if (length >= MAX_LENGTH) throw structureError('length too large');
    length = length * 256 + byte;
    if (length === 0) throw structureError('superfluous leading zeros in length');
  }
  if (bytes.length < size) throw syntaxError('truncated tag or length');
  if (length < 0x80) throw structureError('non-minimal length');
  return length;
}

function elementAt(bytes: Uint8Array, offset: number, { tag, length, start } = headerAt(bytes, offset)): Der {
  const end = start + length;
  if (end > bytes.length) throw syntaxError('data truncated');
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(offset, end), end };
}

/** An element that must be a sequence. `type` is what Go calls the structure that it fills. */
function sequenceAt(bytes: Uint8Array, offset: number, type: string): Der {
  const header = headerAt(bytes, offset);
  const { tag, length, start } = header;
  if (tag === SEQUENCE) return elementAt(bytes, offset, header);
  const found = `{class:${tag >> 6} tag:${tag & 0x1f} length:${length} isCompound:${(tag & CONSTRUCTED) !== 0}}`;
  throw structureError(`tags don't match (16 vs ${found}) ${PLAIN_FIELD} ${type} @${start}`);
}

function childrenOf({ tag, content }: Der): Der[] {
  if ((tag & CONSTRUCTED) === 0) throw structureError('malformed certificate request');
  const children: Der[] = [];
  for (let offset = 0; offset < content.length; ) {
    const child = elementAt(content, offset);
    children.push(child);
    offset = child.end;
  }
  return children;
}

function oidText(bytes: Uint8Array): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0) parts.push(Math.min(2, Math.trunc(value / 40)), value - 40 * Math.min(2, Math.trunc(value / 40)));
    else parts.push(value);
    value = 0;
  }
  return parts.join('.');
}
