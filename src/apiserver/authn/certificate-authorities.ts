import { X509Certificate } from 'node:crypto';
import type { ClientCertificate } from '../request/api-request.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const AUTHORITIES = new WeakMap<ClientCertificate, Map<string, boolean>>();

/**
 * Whether a certificate's chain ends at one of these CAs (PEM). The chain itself was verified with the connection, against
 * all CAs of the server; this tells them apart. Cached per connection and CA bundle.
 */
export function isIssuedBy(certificate: ClientCertificate, authorities: string): boolean {
  let verdicts = AUTHORITIES.get(certificate);
  if (verdicts === undefined) {
    verdicts = new Map();
    AUTHORITIES.set(certificate, verdicts);
  }
  let verdict = verdicts.get(authorities);
  if (verdict === undefined) {
    verdict = endsWith(certificate, parsed(authorities));
    verdicts.set(authorities, verdict);
  }
  return verdict;
}

function parsed(authorities: string): readonly X509Certificate[] {
  return [...authorities.matchAll(CERTIFICATE)].map(([pem]) => new X509Certificate(pem));
}

function endsWith({ chain }: ClientCertificate, authorities: readonly X509Certificate[]): boolean {
  const links = chain?.().map((der) => new X509Certificate(der)) ?? [];
  return links.some((link) => authorities.some((authority) => link.checkIssued(authority) && link.verify(authority.publicKey)));
}
