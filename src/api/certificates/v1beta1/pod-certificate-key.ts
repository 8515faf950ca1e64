import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { checkRequestSignature, encodePem, type RequestedCertificate, readCertificateRequest } from '#base';
import { OMITTED } from '#machinery';
import type { FieldReport } from '../../field-report.ts';
import type { PodCertificateRequestSpec } from './pod-certificate-request.ts';

const MAX_BYTES = 10 * 1024;
const CURVES: ReadonlyMap<string, string> = new Map([
  ['secp224r1', 'P-224'],
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);
const MODULUS_BITS: ReadonlySet<number | undefined> = new Set([3072, 4096]);
const UNKNOWN_KEY = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA';

/** A key is given in one of two forms, with a proof of possession of its private key. */
export function validateKey(spec: PodCertificateRequestSpec, at: FieldReport): void {
  const stub = bytesOf(spec.stubPKCS10Request);
  const publicKey = bytesOf(spec.pkixPublicKey);
  const proof = bytesOf(spec.proofOfPossession);
  if (stub.length > 0 && publicKey.length === 0 && proof.length === 0) validateStub(stub, at.child('stubPKCS10Request'));
  else if (stub.length === 0 && publicKey.length > 0 && proof.length > 0) validateKeyAndProof({ publicKey, proof, spec }, at);
  else at.invalid(OMITTED, 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set');
}

/** The key of a request that was valid when it was created. */
export function requestedKey({ stubPKCS10Request, pkixPublicKey }: PodCertificateRequestSpec): KeyObject | undefined {
  const stub = bytesOf(stubPKCS10Request);
  return stub.length > 0 ? requestOf(stub)?.publicKey : keyOf(bytesOf(pkixPublicKey));
}

function bytesOf(base64: string | null | undefined): Buffer {
  return Buffer.from(base64 ?? '', 'base64');
}

function validateStub(stub: Buffer, at: FieldReport): void {
  if (stub.length > MAX_BYTES) {
    at.tooLong(MAX_BYTES);
    return;
  }
  const request = requestOf(stub);
  if (request === undefined) at.invalid(OMITTED, 'must be a valid PKCS#10 CSR');
  else if (isUsable(request.publicKey, at, { curves: 'P256, P384, or P521', printed: OMITTED }) && !isSigned(request)) {
    at.invalid(OMITTED, 'invalid signature');
  }
}

function requestOf(der: Buffer): RequestedCertificate | undefined {
  try {
    return readCertificateRequest(encodePem('CERTIFICATE REQUEST', der));
  } catch {
    return undefined;
  }
}

function isSigned(request: RequestedCertificate): boolean {
  try {
    checkRequestSignature(request);
    return true;
  } catch {
    return false;
  }
}

interface KeyAndProof {
  readonly publicKey: Buffer;
  readonly proof: Buffer;
  readonly spec: PodCertificateRequestSpec;
}

function validateKeyAndProof({ publicKey, proof, spec }: KeyAndProof, at: FieldReport): void {
  const keyAt = at.child('pkixPublicKey');
  const proofAt = at.child('proofOfPossession');
  const key = publicKey.length > MAX_BYTES ? undefined : keyOf(publicKey);
  if (publicKey.length > MAX_BYTES) keyAt.tooLong(MAX_BYTES);
  else if (proof.length > MAX_BYTES) proofAt.tooLong(MAX_BYTES);
  else if (key === undefined) keyAt.invalid(spec.pkixPublicKey, 'must be a valid PKIX-serialized public key');
  else if (isUsable(key, keyAt, { curves: 'P256 or P384', printed: spec.pkixPublicKey })) {
    const isPossessed = isProven(key, Buffer.from(spec.podUID ?? ''), proof);
    if (!isPossessed) proofAt.invalid(OMITTED, 'could not verify proof-of-possession signature');
  }
}

function keyOf(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function isProven(key: KeyObject, content: Buffer, proof: Buffer): boolean {
  try {
    if (key.asymmetricKeyType === 'ed25519') return verify(null, content, key, proof);
    if (key.asymmetricKeyType === 'ec') return verify('sha256', content, key, proof);
    const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return verify('sha256', content, { key, ...padding }, proof);
  } catch {
    // An unverifiable proof is invalid.
    return false;
  }
}

/** One of upstream's messages lists fewer curves than are accepted. */
function isUsable(key: KeyObject, at: FieldReport, { curves, printed }: { readonly curves: string; readonly printed: unknown }): boolean {
  const { namedCurve = '', modulusLength } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return true;
    case 'ec':
      if (namedCurve !== 'secp224r1' && CURVES.has(namedCurve)) return true;
      at.invalid(`curve ${CURVES.get(namedCurve) ?? namedCurve}`, `elliptic public keys must use curve ${curves}`);
      return false;
    case 'rsa':
      if (MODULUS_BITS.has(modulusLength)) return true;
      at.invalid(`${modulusLength}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096');
      return false;
    default:
      at.invalid(printed, UNKNOWN_KEY);
      return false;
  }
}
