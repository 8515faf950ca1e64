import {
  type Authority,
  checkRequestSignature,
  type ExtendedKeyUsage,
  type KeyUsage,
  lookupTable,
  type Random,
  type RequestedCertificate,
  signCertificate,
} from '#base';

const BACKDATE_MS = 5 * 60_000;
/** Lifetimes shorter than this are counted from now, not from the backdated start. */
const SHORT_MS = 8 * 3_600_000;

const KEY_USAGES = lookupTable<KeyUsage>({
  signing: 'digitalSignature',
  'digital signature': 'digitalSignature',
  'content commitment': 'contentCommitment',
  'key encipherment': 'keyEncipherment',
  'key agreement': 'keyAgreement',
  'data encipherment': 'dataEncipherment',
  'cert sign': 'certSign',
  'crl sign': 'crlSign',
  'encipher only': 'encipherOnly',
  'decipher only': 'decipherOnly',
});

const EXTENDED_KEY_USAGES = lookupTable<ExtendedKeyUsage>({
  any: 'any',
  'server auth': 'serverAuth',
  'client auth': 'clientAuth',
  'code signing': 'codeSigning',
  'email protection': 'emailProtection',
  's/mime': 'emailProtection',
  'ipsec end system': 'ipsecEndSystem',
  'ipsec tunnel': 'ipsecTunnel',
  'ipsec user': 'ipsecUser',
  timestamping: 'timeStamping',
  'ocsp signing': 'ocspSigning',
  'microsoft sgc': 'microsoftSgc',
  'netscape sgc': 'netscapeSgc',
});

export interface IssueOptions {
  readonly usages: readonly string[];
  readonly lifetimeMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly random: Random;
}

/**
 * Signs all requested names for the given usages, never as a CA. Throws when the authority has expired,
 * or when the request is not signed with its own key.
 */
export function issueCertificate(requested: RequestedCertificate, authority: Authority, options: IssueOptions): string {
  const { usages, lifetimeMs, now, random } = options;
  checkRequestSignature(requested);
  if (now >= authority.notAfter) throw new Error('refusing to sign: the certificate of the authority has expired');
  const unknown = usages.filter((usage) => !(usage in KEY_USAGES) && !(usage in EXTENDED_KEY_USAGES));
  if (unknown.length > 0) throw new Error(`unrecognized usage values: ${unknown.join(', ')}`);
  const end = now + (lifetimeMs < SHORT_MS ? lifetimeMs : lifetimeMs - BACKDATE_MS);
  return signCertificate(
    {
      ...requested,
      notBefore: now - BACKDATE_MS,
      notAfter: Math.min(end, authority.notAfter),
      keyUsages: namedUsages(usages, KEY_USAGES),
      extendedKeyUsages: namedUsages(usages, EXTENDED_KEY_USAGES),
    },
    authority,
    random,
  );
}

function namedUsages<T>(usages: readonly string[], names: Readonly<Record<string, T>>): readonly T[] {
  return [...new Set(usages.flatMap((usage) => names[usage] ?? []))];
}
