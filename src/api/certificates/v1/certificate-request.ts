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

/** The PEM blocks of a text; what is between them is ignored. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(PEM)].map(([, type = '', body = '']) => {
    const hasHeaders = body.includes(':');
    const base64 = hasHeaders ? (body.split(/\r?\n\r?\n/)[1] ?? '') : body;
    return { type, hasHeaders, bytes: Buffer.from(base64.replace(/\s/g, ''), 'base64') };
  });
}

/** Parses a request in PEM. Throws CertificateRequestError. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const [block] = pemBlocks(pem);
  if (block?.type !== 'CERTIFICATE REQUEST') throw new CertificateRequestError('PEM block type must be CERTIFICATE REQUEST');
  const [info, algorithm, signature] = childrenOf(readDer(block.bytes));
  if (!info || !algorithm || !signature) throw malformed();
  const [, subject, publicKey] = childrenOf(info);
  const [oid] = childrenOf(algorithm);
  if (!subject || !publicKey || !oid) throw malformed();
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
      if (!oid || !value) throw malformed();
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

interface Der {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

const CONSTRUCTED = 0x20;

function malformed(): CertificateRequestError {
  return new CertificateRequestError('asn1: structure error: malformed certificate request');
}

function readDer(bytes: Uint8Array): Der {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) throw new CertificateRequestError('asn1: syntax error: truncated tag or length');
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  let length = first < 0x80 ? first : 0;
  for (let i = 0; i < lengthBytes; i++) length = length * 256 + (bytes[2 + i] ?? 0);
  const start = 2 + lengthBytes;
  if (lengthBytes > 4 || start + length > bytes.length) throw new CertificateRequestError('asn1: syntax error: data truncated');
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}

function childrenOf({ tag, content }: Der): Der[] {
  if ((tag & CONSTRUCTED) === 0) throw malformed();
  const children: Der[] = [];
  for (let rest = content; rest.length > 0; ) {
    const child = readDer(rest);
    children.push(child);
    rest = rest.subarray(child.whole.length);
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
