import { type DialTarget, lookupTable } from '#base';

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

const CONNECT_FAILURES = lookupTable<string>({
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
});

/** The message of a failed request, as Go's HTTP client words it. */
export function transportErrorText(error: NodeJS.ErrnoException, { host, port }: DialTarget): string {
  const { code = '' } = error;
  const connecting = CONNECT_FAILURES[code];
  if (connecting !== undefined) return `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}: ${connecting}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'EOF';
  const certificate = certificateProblem(error);
  return certificate === undefined ? error.message : `tls: failed to verify certificate: x509: ${certificate}`;
}

function certificateProblem(error: NodeJS.ErrnoException): string | undefined {
  const { code = '' } = error;
  if (UNKNOWN_AUTHORITY.has(code)) return 'certificate signed by unknown authority';
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'certificate has expired or is not yet valid';
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined;
  const { host = '', cert } = error as { host?: string; cert?: { subjectaltname?: string } };
  const names = (cert?.subjectaltname ?? '').split(', ').map((name) => name.replace(/^[^:]*:/, ''));
  return `certificate is valid for ${names.filter(Boolean).join(', ') || 'no names'}, not ${host}`;
}
