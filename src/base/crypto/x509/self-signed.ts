import { createPublicKey } from 'node:crypto';
import type { Random } from '../../random.ts';
import type { Clock } from '../../time/clock.ts';
import { createAuthority, loadAuthority, newPrivateKey, privateKeyPem, signCertificate } from './certificate.ts';
import type { AlternativeNames } from './names.ts';

export interface SelfSignedOptions extends AlternativeNames {
  readonly commonName: string;
  /** The name of the CA, which signs only this certificate. */
  readonly authorityName: string;
}

/** PEM texts. */
export interface SelfSigned {
  /** Followed by its CA. */
  readonly cert: string;
  readonly key: string;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** A self-signed serving certificate, valid for a year, for servers without a configured one. */
export function createSelfSigned(
  { commonName, authorityName, ...names }: SelfSignedOptions,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): SelfSigned {
  const validity = { notBefore: clock.now() - HOUR_MS, notAfter: clock.now() + YEAR_MS };
  const authority = createAuthority({ subject: { commonName: authorityName }, ...validity }, random);
  const key = newPrivateKey();
  const usage = { extendedKeyUsages: ['serverAuth' as const] };
  const template = { subject: { commonName }, publicKey: createPublicKey(key), ...usage, ...validity, ...names };
  const cert = signCertificate(template, loadAuthority(authority), random);
  return { cert: `${cert.trimEnd()}\n${authority.certificate}`, key: privateKeyPem(key) };
}
