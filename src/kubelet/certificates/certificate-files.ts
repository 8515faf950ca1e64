import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, readlink, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A certificate with its chain, and its key. PEM texts. */
export interface CertifiedKey {
  readonly cert: string;
  readonly key: string;
}

/**
 * Key pairs of one purpose in a directory, in upstream's layout: `kubelet-client-current.pem` is a link to the current pair, so that
 * a crash leaves either the old pair or the new one.
 */
export class CertificateFiles {
  constructor(
    private readonly directory: string,
    /** `kubelet-client` or `kubelet-server`. */
    private readonly prefix: string,
  ) {}

  get currentPath(): string {
    return join(this.directory, `${this.prefix}-current.pem`);
  }

  /** Undefined when it is absent or unreadable. */
  async current(): Promise<CertifiedKey | undefined> {
    const text = await readFile(this.currentPath, 'utf8').catch(() => '');
    return splitPem(text);
  }

  async store({ cert, key }: CertifiedKey, nowMs: number): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o755 });
    const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-');
    const file = join(this.directory, `${this.prefix}-${stamp}.pem`);
    const before = await readlink(this.currentPath).catch(() => undefined);
    await writeFile(file, `${cert.trimEnd()}\n${key}`, { mode: 0o600 });
    const link = join(this.directory, `${this.prefix}-updated.pem`);
    await unlink(link).catch(() => {});
    await symlink(file, link);
    await rename(link, this.currentPath);
    if (before !== undefined && before !== file) await unlink(before).catch(() => {});
  }
}

/** Splits a file with certificate and key, in any order. */
export function splitPem(text: string): CertifiedKey | undefined {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];
  const key = blocks.find((block) => block.includes('PRIVATE KEY'));
  const cert = blocks.filter((block) => block.includes('BEGIN CERTIFICATE')).join('\n');
  return key === undefined || cert === '' ? undefined : { cert, key: `${key}\n` };
}

/** The validity of the leaf certificate, in milliseconds since the epoch. */
export function validityOf(cert: string): { readonly fromMs: number; readonly toMs: number } {
  const { validFrom, validTo } = new X509Certificate(cert);
  return { fromMs: Date.parse(validFrom), toMs: Date.parse(validTo) };
}
