import { getCiphers, type SecureVersion } from 'node:tls';

/** Versions of TLS as Go names them. */
export const TLS_VERSIONS: ReadonlyMap<string, Extract<SecureVersion, 'TLSv1.2' | 'TLSv1.3'>> = new Map([
  ['VersionTLS12', 'TLSv1.2'],
  ['VersionTLS13', 'TLSv1.3'],
]);

/** Cipher names for Node, in OpenSSL's notation; those of TLS 1.3 are the same everywhere. Throws an Error on an unknown one. */
export function cipherNames(names: readonly string[]): string {
  const supported = new Set(getCiphers().map((name) => name.toUpperCase()));
  const ciphers = names.map((name) => (name.startsWith('TLS_AES') || name.startsWith('TLS_CHACHA20') ? name : opensslName(name)));
  const unknown = ciphers.find((name) => !supported.has(name));
  if (unknown !== undefined) throw new Error(`'${unknown}' is no cipher that this server has`);
  return ciphers.join(':');
}

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: ECDHE-RSA-AES128-GCM-SHA256. */
function opensslName(name: string): string {
  return name
    .replace(/^TLS_/, '')
    .replace('_WITH_', '_')
    .replace(/AES_(\d+)/, 'AES$1')
    .replace('CHACHA20_POLY1305_SHA256', 'CHACHA20_POLY1305')
    .replaceAll('_', '-');
}
