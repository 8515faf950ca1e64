export {
  type Authority,
  type AuthorityOptions,
  type CertificateTemplate,
  createAuthority,
  type KeyPair,
  loadAuthority,
  newPrivateKey,
  privateKeyPem,
  readCertificateSubject,
  signCertificate,
} from './certificate.ts';
export {
  checkRequestSignature,
  createCertificateRequest,
  type RequestedCertificate,
  readCertificateRequest,
} from './certificate-request.ts';
export { DerError } from './der-reader.ts';
export type { ExtendedKeyUsage, KeyUsage } from './extensions.ts';
export type { AlternativeNames, DecodedSubject, Subject } from './names.ts';
export { decodePem, encodePem, type PemBlock, pemBlocks } from './pem.ts';
export { createSelfSigned, type SelfSigned, type SelfSignedOptions } from './self-signed.ts';
