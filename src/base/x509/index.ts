export {
  type Authority,
  type AuthorityOptions,
  type CertificateTemplate,
  createAuthority,
  type KeyPair,
  loadAuthority,
  newPrivateKey,
  privateKeyPem,
  signCertificate,
} from './certificate.ts';
export { createCertificateRequest, type RequestedCertificate, readCertificateRequest } from './certificate-request.ts';
export { DerError } from './der.ts';
export type { ExtendedKeyUsage, KeyUsage } from './extensions.ts';
export type { AlternativeNames, Subject } from './names.ts';
export { decodePem, encodePem } from './pem.ts';
