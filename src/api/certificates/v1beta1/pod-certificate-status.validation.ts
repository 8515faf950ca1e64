import { X509Certificate } from 'node:crypto';
import { type PemBlock, pemBlocks } from '#base';
import { formatDurationMs, parseTime, Verbatim } from '#machinery';
import type { FieldReport } from '../../field-report.ts';
import { requestedKey } from './pod-certificate-key.ts';
import type { PodCertificateRequestSpec, PodCertificateRequestStatus } from './pod-certificate-request.ts';

const MAX_CHAIN_BYTES = 100 * 1024;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REFRESH_MARGIN = 10 * MINUTE;
const CERTIFICATE = 'CERTIFICATE';

/** A certificate must have the requested key and the times in the status. Stops at the first error. */
export function validateIssued(status: PodCertificateRequestStatus, spec: PodCertificateRequestSpec, at: FieldReport): void {
  const { certificateChain: chain = '' } = status;
  const chainAt = at.child('certificateChain');
  if (Buffer.byteLength(chain) > MAX_CHAIN_BYTES) {
    chainAt.tooLong(MAX_CHAIN_BYTES);
    return;
  }
  const [leafBlock, ...others] = pemBlocks(chain);
  const leaf = leafBlock && certificateOf(leafBlock);
  const problem = leafProblem(leafBlock, leaf);
  if (problem !== undefined) chainAt.invalid(chain, problem);
  if (leaf === undefined || problem !== undefined) return;
  validateNames(leaf, chainAt);
  const key = requestedKey(spec);
  if (key === undefined || !leaf.publicKey.equals(key)) {
    chainAt.invalid(chain, 'leaf certificate was not issued to the requested public key');
    return;
  }
  if (!validateTimes(status, { leaf, maxSeconds: spec.maxExpirationSeconds ?? 0 }, at)) return;
  const other = others.map(intermediateProblem).find((text) => text !== undefined);
  if (other !== undefined) chainAt.invalid(chain, other);
}

function leafProblem(block: PemBlock | undefined, leaf: X509Certificate | undefined): string | undefined {
  if (block === undefined) return 'issued certificate chain must contain at least one certificate';
  if (block.type !== CERTIFICATE) return 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks';
  return leaf === undefined ? 'leaf certificate does not parse as valid X.509' : undefined;
}

function intermediateProblem(block: PemBlock): string | undefined {
  // The misspelling is upstream's.
  if (block.type !== CERTIFICATE) return 'issued certificate chain must consist entirely of CERTFICATE PEM blocks';
  return certificateOf(block) === undefined ? 'intermediate certificate does not parse as valid X.509' : undefined;
}

function certificateOf({ bytes }: PemBlock): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

function validateNames({ subjectAltName = '' }: X509Certificate, at: FieldReport): void {
  for (const entry of subjectAltName.split(', ').filter((text) => text.startsWith('DNS:'))) {
    const name = entry.slice('DNS:'.length);
    if (name === '') at.invalid(name, 'leaf certificate should not contain empty DNSName');
    if (name.includes('..')) at.invalid(name, "leaf certificate's DNSName should not contain '..'");
    if (name.startsWith('.') || name.endsWith('.')) at.invalid(name, "leaf certificate's DNSName should not start or end with '.'");
  }
}

interface LeafLimits {
  readonly leaf: X509Certificate;
  readonly maxSeconds: number;
}

function validateTimes(status: PodCertificateRequestStatus, { leaf, maxSeconds }: LeafLimits, at: FieldReport): boolean {
  const { notBefore, notAfter, beginRefreshAt } = status;
  if (!notBefore) at.child('notBefore').required('must be present and consistent with the issued certificate');
  if (!notAfter) at.child('notAfter').required('must be present and consistent with the issued certificate');
  if (!beginRefreshAt) at.child('beginRefreshAt').required('must be present and in the range [notbefore+10min, notafter-10min]');
  if (!notBefore || !notAfter || !beginRefreshAt) return false;
  const start = Date.parse(leaf.validFrom);
  const end = Date.parse(leaf.validTo);
  const refresh = parseTime(beginRefreshAt);
  const lifetime = end - start;
  const fault = (name: string, value: unknown, detail: string) => {
    at.child(name).invalid(value, detail);
    return false;
  };
  const printed = new Verbatim(formatDurationMs(lifetime));
  if (parseTime(notBefore) !== start)
    return fault('notBefore', notBefore, 'must be set to the NotBefore time encoded in the leaf certificate');
  if (parseTime(notAfter) !== end) return fault('notAfter', notAfter, 'must be set to the NotAfter time encoded in the leaf certificate');
  if (lifetime < HOUR) return fault('certificateChain', printed, 'leaf certificate lifetime must be >= 1 hour');
  if (lifetime > maxSeconds * 1000) {
    return fault('certificateChain', printed, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`);
  }
  if (refresh < start + REFRESH_MARGIN)
    return fault('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes after status.notBefore');
  if (refresh > end - REFRESH_MARGIN) return fault('beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes before status.notAfter');
  return true;
}
