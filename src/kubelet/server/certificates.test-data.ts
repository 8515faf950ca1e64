import { createPublicKey } from 'node:crypto';
import { createAuthority, loadAuthority, newPrivateKey, privateKeyPem, realClock, seededRandom, signCertificate } from '#base';

const DAY_MS = 86_400_000;
const random = seededRandom(1);
const validity = { notBefore: realClock.now() - DAY_MS, notAfter: realClock.now() + DAY_MS };

export const AUTHORITY = createAuthority({ subject: { commonName: 'ca' }, ...validity }, random);
/** One that the kubelet does not trust. */
export const OTHER_AUTHORITY = createAuthority({ subject: { commonName: 'other' }, ...validity }, random);

/** A certificate for 127.0.0.1 and its key. */
export function certificateFor(commonName: string, { organizations = [] as readonly string[], authority = AUTHORITY } = {}) {
  const key = newPrivateKey();
  const template = { subject: { commonName, organizations }, publicKey: createPublicKey(key), ...validity, ipAddresses: ['127.0.0.1'] };
  return { cert: signCertificate(template, loadAuthority(authority), random), key: privateKeyPem(key) };
}
