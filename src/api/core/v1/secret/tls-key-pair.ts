import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type PemBlock, pemBlocks } from '#base';

const KEY = 'PRIVATE KEY';
const KEY_FORMS = ['pkcs1', 'pkcs8', 'sec1'] as const;
const KEY_TYPES: ReadonlySet<string | undefined> = new Set(['rsa', 'ec', 'ed25519']);

/** Why a PEM certificate and key cannot be used together, in the words of Go's library; undefined if they can. */
export function tlsKeyPairProblem(certificate: string, key: string): string | undefined {
  const certificates = [...pemBlocks(certificate)];
  const keys = [...pemBlocks(key)];
  const leaf = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (!leaf) return missingCertificate(certificates.map(({ type }) => type));
  const privateKey = keys.find(({ type }) => type === KEY || type.endsWith(` ${KEY}`));
  return privateKey ? mismatch(leaf, privateKey) : missingKey(keys.map(({ type }) => type));
}

function missingCertificate(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (skipped.length === 1 && skipped[0]?.endsWith(KEY)) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${listed(skipped)}`;
}

function missingKey(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input';
  if (skipped.length === 1 && skipped[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "${KEY}" in key input after skipping PEM blocks of the following types: ${listed(skipped)}`;
}

function listed(types: readonly string[]): string {
  return `[${types.join(' ')}]`;
}

function mismatch(leaf: PemBlock, block: PemBlock): string | undefined {
  const certificate = attempt(() => new X509Certificate(leaf.bytes));
  if (!certificate) return 'x509: malformed certificate';
  const key = parseKey(block);
  if (!key) return 'tls: failed to parse private key';
  const type = certificate.publicKey.asymmetricKeyType;
  if (!KEY_TYPES.has(type)) return 'tls: unknown public key algorithm';
  if (key.asymmetricKeyType !== type) return 'tls: private key type does not match public key type';
  return certificate.checkPrivateKey(key) ? undefined : 'tls: private key does not match public key';
}

/** The block type does not reliably identify the key format, so all are tried. */
function parseKey({ bytes }: PemBlock): KeyObject | undefined {
  for (const type of KEY_FORMS) {
    const key = attempt(() => createPrivateKey({ key: Buffer.from(bytes), format: 'der', type }));
    if (key) return key;
  }
  return undefined;
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
