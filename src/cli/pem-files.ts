import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { ServingCertificates } from '#cluster';
import type { CliContext } from './context.ts';
import { fileText } from './flags/flag-table.ts';
import { UsageError } from './usage-error.ts';

/** Certificate and key files named by flags. Errors become a UsageError with the flag and the file. */
export class PemFiles {
  constructor(
    private readonly files: Readonly<Record<string, string | undefined>>,
    private readonly context: CliContext,
  ) {}

  certificate(flag: string): string {
    return this.#parsed(flag, 'certificate', (text) => new X509Certificate(text));
  }

  key(flag: string): string {
    return this.#parsed(flag, 'private key', (text) => createPrivateKey(text));
  }

  serving(): ServingCertificates {
    const { cert, key } = this.pair();
    const clientAuthority = this.files['client-ca-file'] ? this.certificate('client-ca-file') : '';
    return { certificate: cert, key, clientAuthority };
  }

  /** The server's certificate and key. */
  pair(): { readonly cert: string; readonly key: string } {
    const [cert, key] = [this.certificate('tls-cert-file'), this.key('tls-private-key-file')];
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      throw new UsageError(
        `--tls-private-key-file: ${this.#file('tls-private-key-file')} is not the key of the certificate`,
        'give the two that belong together',
      );
    return { cert, key };
  }

  #parsed(flag: string, noun: string, parse: (text: string) => unknown): string {
    const file = this.#file(flag);
    const text = this.#read(flag, file);
    try {
      parse(text);
      return text;
    } catch {
      throw new UsageError(`--${flag}: ${file} holds no ${noun}`, 'give the path of a PEM file');
    }
  }

  #file(flag: string): string {
    const file = this.files[flag];
    if (file === undefined) throw new UsageError(`--${flag} is needed`, `give the path of a PEM file, as --${flag} FILE`);
    return file;
  }

  #read(flag: string, file: string): string {
    try {
      return fileText(file, this.context);
    } catch (error) {
      throw new UsageError(`--${flag}: ${(error as Error).message}`, 'check the path and its permissions');
    }
  }
}
