import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SniCertificate, SniSource } from '#base';
import type { CliContext } from '../context.ts';
import { fileText } from './flag-table.ts';
import { FlagSyntaxError } from './go-values.ts';

/** The value and help of `--tls-sni-cert-key`. */
export const SNI_FLAG = {
  value: 'cert,key[:names]',
  help: 'a certificate and its key for clients that ask for these names, or connect to these addresses without a name (default: the names in the certificate)',
  repeatable: 'lines',
} as const;

/** Adds the certificates of `cert,key[:names]`, one a line. Reads them once, so that invalid files are errors at the start. */
export function withSniCertificates(source: SniSource, value: string, context: CliContext): SniSource {
  const files = value.split('\n').map(parseSniFlag);
  const read = () => [...(source.sniCertificates?.() ?? []), ...files.map((pair) => readSniCertificate(pair, context))];
  read();
  return { sniCertificates: read };
}

interface SniFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names: readonly string[];
}

export function parseSniFlag(value: string): SniFiles {
  const [files = '', ...rest] = value.split(':');
  const names = rest.join(':').trim();
  if (rest.length > 0 && names === '') throw new FlagSyntaxError('empty names list is not allowed');
  const [certFile = '', keyFile, ...further] = files.split(',').map((file) => file.trim());
  if (keyFile === undefined || further.length > 0) throw new FlagSyntaxError('expected comma separated certificate and key file paths');
  return { certFile, keyFile, names: names === '' ? [] : names.split(',').map((name) => name.trim()) };
}

function readSniCertificate({ certFile, keyFile, names }: SniFiles, context: CliContext): SniCertificate {
  try {
    const [cert, key] = [fileText(certFile, context), fileText(keyFile, context)];
    if (cert === '' || key === '') throw new Error(`missing content for serving cert "sni-serving-cert::${certFile}::${keyFile}"`);
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new Error('tls: private key does not match public key');
    return { cert, key, names };
  } catch (cause) {
    throw new Error(`failed to load SNI cert and key: ${(cause as Error).message}`, { cause });
  }
}
