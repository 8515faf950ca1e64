import { type RequestedCertificate, readCertificateRequest } from '#base';

/** Parses the `request` of a CertificateSigningRequest. Validation and signing both use it, so that they see the same request. Throws DerError. */
export function readSigningRequest(base64: string): RequestedCertificate {
  return readCertificateRequest(Buffer.from(base64, 'base64').toString('latin1'));
}
