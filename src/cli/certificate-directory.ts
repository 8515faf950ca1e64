import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Clock, createSelfSigned, type Random, type SelfSignedOptions } from '#base';
import type { CliContext } from './context.ts';
import { UsageError } from './usage-error.ts';

export interface CertificateDirectory {
  /** As given with --cert-dir. */
  readonly directory: string;
  /** The files are called `NAME.crt` and `NAME.key`. */
  readonly name: string;
  /** Whom the certificate is for, if it has to be made. */
  readonly subjects: SelfSignedOptions;
}

/** The paths of the certificate and key in the directory. As upstream, a self-signed pair is made and kept there if one of the two is missing. */
export function pairInDirectory(
  { directory, name, subjects }: CertificateDirectory,
  { cwd }: Pick<CliContext, 'cwd'>,
  deps: { readonly clock: Clock; readonly random: Random },
): { readonly cert: string; readonly key: string } {
  const [cert, key] = [path.resolve(cwd, directory, `${name}.crt`), path.resolve(cwd, directory, `${name}.key`)] as const;
  if (existsSync(cert) && existsSync(key)) return { cert, key };
  const pair = createSelfSigned(subjects, deps);
  try {
    mkdirSync(path.dirname(cert), { recursive: true, mode: 0o755 });
    writeFileSync(key, pair.key, { mode: 0o600 });
    writeFileSync(cert, pair.cert);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `--cert-dir: cannot write ${cert} (${code})`,
      'give another directory, or --tls-cert-file and --tls-private-key-file',
    );
  }
  return { cert, key };
}
