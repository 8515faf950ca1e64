import { type RequestedCertificate, readCertificateRequest } from '#base';

/** What the `request` of a CertificateSigningRequest asks for: the one way in which it is read, be it to check or to sign. Throws DerError. */
export function readSigningRequest(base64: string): RequestedCertificate {
  return readCertificateRequest(Buffer.from(base64, 'base64').toString('latin1'));
}
