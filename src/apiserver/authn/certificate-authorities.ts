import { X509Certificate } from 'node:crypto';
import type { ClientCertificate } from '../request/api-request.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const AUTHORITIES = new WeakMap<ClientCertificate, Map<string, boolean>>();

/**
 * Whether a certificate's chain ends at one of these CAs (PEM). The chain itself was verified with the connection, against
 * all CAs of the server; this tells them apart. Cached per connection and CA bundle.
 */
export function isIssuedBy(certificate: ClientCertificate, authorities: string): boolean {
  let resultsByBundle = AUTHORITIES.get(certificate);
  if (resultsByBundle === undefined) {
    resultsByBundle = new Map();
    AUTHORITIES.set(certificate, resultsByBundle);
  }
  let isIssued = resultsByBundle.get(authorities);
  if (isIssued === undefined) {
    isIssued = endsWith(certificate, parsed(authorities));
    resultsByBundle.set(authorities, isIssued);
  }
  return isIssued;
}

function parsed(authorities: string): readonly X509Certificate[] {
  return [...authorities.matchAll(CERTIFICATE)].map(([pem]) => new X509Certificate(pem));
}

function endsWith({ chain }: ClientCertificate, authorities: readonly X509Certificate[]): boolean {
  const links = chain?.().map((der) => new X509Certificate(der)) ?? [];
  return links.some((link) => authorities.some((authority) => link.checkIssued(authority) && link.verify(authority.publicKey)));
}
