/**
 * IP addresses and networks as numbers. Parsing accepts what Kubernetes always has, including leading zeros and IPv4-mapped IPv6 addresses; both are
 * flagged so that callers can reject them.
 */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
  /** Written as ::ffff:1.2.3.4; such an address is an IPv4 address. */
  readonly mapped: boolean;
  /** Written with leading zeros that strict parsers reject, such as 010.0.0.1. */
  readonly leadingZeros: boolean;
}

export interface IpNetwork {
  /** The address as written, with the bits beyond the prefix. */
  readonly address: IpAddress;
  readonly family: 4 | 6;
  readonly prefixLength: number;
  /** The first address. */
  readonly base: bigint;
  readonly leadingZeros: boolean;
}

export const IPV4_BITS = 32;
export const IPV6_BITS = 128;
const MAPPED_PREFIX = 0xffffn;
const DIGITS = /^[0-9]+$/;
const HEX = /^[0-9a-fA-F]+$/;

export function bitsOf(family: 4 | 6): number {
  return family === 4 ? IPV4_BITS : IPV6_BITS;
}

/** The address, or undefined if invalid. Zones are not accepted. */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): IpAddress | undefined {
  const octets = text.split('.');
  if (octets.length !== 4) return undefined;
  let value = 0;
  let leadingZeros = false;
  for (const octet of octets) {
    if (!DIGITS.test(octet)) return undefined;
    const number = Number(octet);
    if (number > 255) return undefined;
    if (octet.length > 1 && octet.startsWith('0')) leadingZeros = true;
    value = value * 256 + number;
  }
  return { family: 4, value: BigInt(value), mapped: false, leadingZeros };
}

interface Groups {
  readonly groups: number[];
  readonly leadingZeros: boolean;
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = parseGroups(halves[1] ?? '', halves.length === 2);
  if (!head || !tail) return undefined;
  const groupCount = head.groups.length + tail.groups.length;
  if (halves.length === 1 ? groupCount !== 8 : groupCount > 7) return undefined;
  const zeros = new Array<number>(8 - groupCount).fill(0);
  const leadingZeros = head.leadingZeros || tail.leadingZeros;
  return fromGroups([...head.groups, ...zeros, ...tail.groups], leadingZeros);
}

function parseGroups(text: string, mayEndInIpv4: boolean): Groups | undefined {
  if (text === '') return { groups: [], leadingZeros: false };
  const parts = text.split(':');
  const groups: number[] = [];
  let leadingZeros = false;
  for (const [i, part] of parts.entries()) {
    if (mayEndInIpv4 && i === parts.length - 1 && part.includes('.')) {
      const ipv4 = parseIpv4(part);
      if (!ipv4) return undefined;
      groups.push(Number(ipv4.value >> 16n), Number(ipv4.value & 0xffffn));
      leadingZeros ||= ipv4.leadingZeros;
      continue;
    }
    const number = HEX.test(part) ? Number.parseInt(part, 16) : Number.NaN;
    if (!(number <= 0xffff)) return undefined;
    if (part.length > 4) leadingZeros = true;
    groups.push(number);
  }
  return { groups, leadingZeros };
}

function fromGroups(groups: readonly number[], leadingZeros: boolean): IpAddress {
  let value = 0n;
  for (const group of groups) value = (value << 16n) | BigInt(group);
  const mapped = value >> 32n === MAPPED_PREFIX;
  return mapped ? { family: 4, value: value & 0xffffffffn, mapped, leadingZeros } : { family: 6, value, mapped, leadingZeros };
}

/** The network `address/length`, or undefined if invalid. */
export function parseCidr(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (!address || !DIGITS.test(length)) return undefined;
  const written = Number(length);
  if (written > (address.mapped ? IPV6_BITS : bitsOf(address.family))) return undefined;
  const prefixLength = address.mapped ? Math.max(0, written - (IPV6_BITS - IPV4_BITS)) : written;
  const leadingZeros = address.leadingZeros || (length.length > 1 && length.startsWith('0'));
  return { address, family: address.family, prefixLength, base: networkBase(address, prefixLength), leadingZeros };
}

function networkBase(address: IpAddress, prefixLength: number): bigint {
  const hostBits = BigInt(bitsOf(address.family) - prefixLength);
  return (address.value >> hostBits) << hostBits;
}

/** The canonical text: dotted decimal, or RFC 5952. */
export function formatIp({ family, value }: { readonly family: 4 | 6; readonly value: bigint }): string {
  if (family === 4) return formatIpv4(value);
  const groups = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn));
  const { start, length } = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function formatIpv4(value: bigint): string {
  const number = Number(value);
  return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let i = 0; i < groups.length; i++) {
    let end = i;
    while (end < groups.length && groups[end] === 0) end++;
    if (end - i > best.length) best = { start: i, length: end - i };
    i = end;
  }
  return best;
}

/** The canonical text of the network, without the bits beyond the prefix. */
export function formatCidr(network: IpNetwork): string {
  return `${formatIp({ family: network.family, value: network.base })}/${network.prefixLength}`;
}

export function networkContains(network: IpNetwork, address: { readonly family: 4 | 6; readonly value: bigint }): boolean {
  const hostBits = BigInt(bitsOf(network.family) - network.prefixLength);
  return network.family === address.family && address.value >> hostBits === network.base >> hostBits;
}

/** Whether two addresses or networks are dual-stack. Undefined if one is invalid. */
export function isDualStackPair(
  texts: readonly string[],
  parse: (text: string) => { readonly family: 4 | 6 } | undefined,
): boolean | undefined {
  const families = texts.map((text) => parse(text)?.family);
  if (families.includes(undefined)) return undefined;
  return families.includes(4) && families.includes(6);
}
