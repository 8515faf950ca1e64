import { X509Certificate } from 'node:crypto';
import { type PemBlock, pemBlocks } from '#base';
import { FieldError, type Path } from '#machinery';

/** Why a CA bundle is unusable; undefined if it is usable. An empty bundle means the system's CAs. */
export function caBundleProblem(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const blocks = [...pemBlocks(Buffer.from(base64, 'base64').toString('latin1'))];
  const certificates = blocks.filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders);
  if (certificates.some(isCertificate)) return undefined;
  return `unable to load root certificates: ${reason(blocks, certificates)}`;
}

function reason(blocks: readonly PemBlock[], certificates: readonly PemBlock[]): string {
  if (certificates.length > 0) return 'failed to parse certificate: x509: malformed certificate';
  return blocks.length > 0 ? 'no valid certificate authority data seen' : 'unable to parse bytes as PEM block';
}

function isCertificate({ bytes }: PemBlock): boolean {
  try {
    new X509Certificate(bytes);
    return true;
  } catch {
    return false;
  }
}

export function validateCABundle(path: Path, base64: string): FieldError[] {
  const problem = caBundleProblem(base64);
  return problem === undefined ? [] : [FieldError.invalid(path, base64, problem)];
}
