import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

/** A certificate for clients that request one of its names by SNI. PEM. */
export interface SniCertificate {
  readonly cert: string;
  readonly key: string;
  /** Names, patterns such as `*.example.com`, and addresses of this server. Empty: the names in the certificate. */
  readonly names: readonly string[];
}

/** A server's additional certificates. */
export interface SniSource {
  /** Reads the certificates anew at each call, in order of precedence. */
  readonly sniCertificates?: () => readonly SniCertificate[];
}

/** Finds the certificate for the server name that a client requests; undefined: the server's own. A wildcard matches the first label. */
export function sniContexts({
  sniCertificates,
  ...own
}: SecureContextOptions & SniSource): (serverName: string) => SecureContext | undefined {
  const named = (sniCertificates?.() ?? []).map(({ cert, key, names }) => ({
    // Client CAs, versions and ciphers are those of the server.
    context: createSecureContext({ ...own, cert, key }),
    names,
    derived: names.length === 0 ? certificateNames(cert) : [],
  }));
  const contexts = new Map<string, SecureContext>();
  const add = (name: string, context: SecureContext) => contexts.has(name) || contexts.set(name, context);
  for (const { names, context } of named) for (const name of names) add(name, context);
  for (const { derived, context } of named) for (const name of derived) add(name, context);
  return (serverName) => {
    const name = serverName.toLowerCase();
    return contexts.get(name) ?? contexts.get(name.replace(/^[^.]*/, '*'));
  };
}

/** The certificates for clients that connect to an IP address without SNI, by address. */
export function certificatesByAddress({ sniCertificates }: SniSource): ReadonlyMap<string, SniCertificate> {
  const byAddress = new Map<string, SniCertificate>();
  for (const certificate of sniCertificates?.() ?? []) {
    for (const address of certificate.names.filter((name) => isIP(name) !== 0)) {
      if (!byAddress.has(address)) byAddress.set(address, certificate);
    }
  }
  return byAddress;
}

const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/; // bounded: names in the operator's own certificate

/** As upstream, addresses in a certificate are ignored: only `names` may contain addresses. */
function certificateNames(cert: string): readonly string[] {
  const { subject = '', subjectAltName = '' } = new X509Certificate(cert);
  const line = subject.split('\n').find((attribute) => attribute.startsWith('CN='));
  const commonName = line?.slice('CN='.length) ?? '';
  const isDomain = isIP(commonName) === 0 && (commonName === '*' || DOMAIN.test(commonName.replace(/^\*\./, '')));
  const dnsNames = [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name!);
  return isDomain ? [commonName, ...dnsNames] : dnsNames;
}
