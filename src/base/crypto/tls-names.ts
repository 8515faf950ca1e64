import { createSecureContext, getCiphers, type SecureVersion } from 'node:tls';

/** Versions of TLS as Go names them. */
export const TLS_VERSIONS: ReadonlyMap<string, SecureVersion> = new Map([
  ['VersionTLS10', 'TLSv1'],
  ['VersionTLS11', 'TLSv1.1'],
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

/** Curves by their TLS ids, in OpenSSL's names. */
const CURVES: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4588, 'X25519MLKEM768'],
]);

/** Curves for Node by their TLS ids, in this order, without those that this version of OpenSSL lacks. Throws an Error on an unknown one. */
export function curveNames(ids: readonly number[]): string {
  const unknown = ids.find((id) => !CURVES.has(id));
  if (unknown !== undefined) throw new Error(`${unknown} is no curve that this server has`);
  const names = ids.map((id) => CURVES.get(id) ?? '').filter(hasCurve);
  if (names.length === 0) throw new Error(`none of the curves ${ids.join(', ')} is one that this server has`);
  return names.join(':');
}

function hasCurve(ecdhCurve: string): boolean {
  try {
    createSecureContext({ ecdhCurve });
    return true;
  } catch {
    return false;
  }
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
