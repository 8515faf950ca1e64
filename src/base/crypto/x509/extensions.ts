import { maxOf } from '../../long-lists.ts';
import { bitString, boolean, contextTag, der, oid, sequence, TAG } from './der.ts';
import { childrenOf, type DerElement, readOid, structureError, syntaxError } from './der-reader.ts';

export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** In the order of their bits. */
const KEY_USAGES = [
  'digitalSignature',
  'contentCommitment',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'certSign',
  'crlSign',
  'encipherOnly',
  'decipherOnly',
] as const;
export type KeyUsage = (typeof KEY_USAGES)[number];

const EXTENDED_KEY_USAGES = {
  any: '2.5.29.37.0',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  ipsecEndSystem: '1.3.6.1.5.5.7.3.5',
  ipsecTunnel: '1.3.6.1.5.5.7.3.6',
  ipsecUser: '1.3.6.1.5.5.7.3.7',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
  microsoftSgc: '1.3.6.1.4.1.311.10.3.3',
  netscapeSgc: '2.16.840.1.113730.4.1',
} as const;
export type ExtendedKeyUsage = keyof typeof EXTENDED_KEY_USAGES;

export function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  // bounded: spread lists are flags and usages, each at most once
  return sequence(oid(id), ...(isCritical ? [boolean(true)] : []), der(TAG.octetString, value));
}

/** The value comes last, after the optional critical flag. */
export function readExtension(entry: DerElement): { readonly type: string; readonly value: Uint8Array } {
  const [type, second, third] = childrenOf(entry);
  const value = second?.tag === TAG.boolean ? third : second;
  if (type === undefined || value === undefined) throw syntaxError('sequence truncated');
  if (value.tag !== TAG.octetString) throw structureError("tags don't match");
  return { type: readOid(type), value: value.content };
}

export function keyUsageExtension(usages: readonly KeyUsage[]): Buffer {
  const bits = usages.map((usage) => KEY_USAGES.indexOf(usage));
  const last = maxOf(bits);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const bit of bits) bytes[Math.floor(bit / 8)]! |= 0x80 >> (bit % 8);
  return extension(EXTENSION.keyUsage, bitString(bytes, 7 - (last % 8)), true);
}

export function extendedKeyUsageExtension(usages: readonly ExtendedKeyUsage[]): Buffer {
  return extension(EXTENSION.extendedKeyUsage, sequence(...usages.map((usage) => oid(EXTENDED_KEY_USAGES[usage]))));
}

export function basicConstraintsExtension(isAuthority: boolean): Buffer {
  return extension(EXTENSION.basicConstraints, sequence(...(isAuthority ? [boolean(true)] : [])), true);
}

export function subjectKeyExtension(id: Uint8Array): Buffer {
  return extension(EXTENSION.subjectKeyIdentifier, der(TAG.octetString, id));
}

export function authorityKeyExtension(id: Uint8Array): Buffer {
  return extension(EXTENSION.authorityKeyIdentifier, sequence(der(contextTag(0, false), id)));
}
