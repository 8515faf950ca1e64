import { goQuote } from '../../values/go-format.ts';

/** An address or prefix that cannot be parsed, in the words of Go's net/netip. */
export class NetipError extends Error {
  override readonly name = 'NetipError';
}

/** An IP address: 4 or 16 bytes. */
export class IpAddress {
  readonly bytes: Uint8Array;
  readonly zone: string;

  constructor(bytes: Uint8Array, zone = '') {
    this.bytes = bytes;
    this.zone = zone;
  }

  get isV4(): boolean {
    return this.bytes.length === 4;
  }

  get isV4InV6(): boolean {
    return !this.isV4 && this.bytes.subarray(0, 10).every((byte) => byte === 0) && this.byte(10) === 255 && this.byte(11) === 255;
  }

  byte(index: number): number {
    return this.bytes[index] ?? 0;
  }

  group(index: number): number {
    return this.byte(index * 2) * 256 + this.byte(index * 2 + 1);
  }

  get isUnspecified(): boolean {
    return this.bytes.every((byte) => byte === 0);
  }

  get isLoopback(): boolean {
    return this.isV4 ? this.byte(0) === 127 : this.bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
  }

  get isMulticast(): boolean {
    return this.isV4 ? (this.byte(0) & 0xf0) === 0xe0 : this.byte(0) === 0xff;
  }

  get isLinkLocalMulticast(): boolean {
    if (this.isV4) return this.byte(0) === 224 && this.byte(1) === 0 && this.byte(2) === 0;
    return (this.group(0) & 0xff0f) === 0xff02;
  }

  get isLinkLocalUnicast(): boolean {
    return this.isV4 ? this.byte(0) === 169 && this.byte(1) === 254 : (this.group(0) & 0xffc0) === 0xfe80;
  }

  get isGlobalUnicast(): boolean {
    const isBroadcast = this.isV4 && this.bytes.every((byte) => byte === 255);
    return !isBroadcast && !this.isUnspecified && !this.isLoopback && !this.isMulticast && !this.isLinkLocalUnicast;
  }

  equals(other: IpAddress): boolean {
    return this.bytes.length === other.bytes.length && this.bytes.every((byte, i) => byte === other.bytes[i]);
  }

  /** The address with all but its first bits zero. */
  masked(bits: number): IpAddress {
    return new IpAddress(this.bytes.map((byte, i) => byte & (0xff00 >> Math.min(Math.max(bits - i * 8, 0), 8)) & 0xff));
  }

  /** The canonical form. */
  toString(): string {
    return this.isV4 ? this.bytes.join('.') : formatV6(this);
  }
}

/** Writes the longest run of at least two zero groups as `::`. */
function formatV6(address: IpAddress): string {
  const groups = Array.from({ length: 8 }, (_, i) => address.group(i));
  const run = longestZeroRun(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (run.length < 2) return hex(groups);
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`;
}

function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
    start = Math.max(start, end - 1);
  }
  return best;
}

function failure(text: string, problem: string, at = ''): NetipError {
  return new NetipError(`ParseAddr(${goQuote(text)}): ${problem}${at === '' ? '' : ` (at ${goQuote(at)})`}`);
}

/** Parses an address. Throws a NetipError. */
export function parseAddress(text: string): IpAddress {
  const mark = /[.:%]/.exec(text)?.[0];
  if (mark === '.') return new IpAddress(parseV4(text, text));
  if (mark === ':') return parseV6(text);
  throw failure(text, mark === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

function parseV4(input: string, text: string): Uint8Array {
  const fields: number[] = [];
  let digits = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (char >= '0' && char <= '9') {
      if (digits === '0') throw failure(input, 'IPv4 field has octet with leading zero');
      digits += char;
      if (Number(digits) > 255) throw failure(input, 'IPv4 field has value >255');
    } else if (char === '.') {
      if (digits === '' || i === text.length - 1) throw failure(input, 'IPv4 field must have at least one digit', text.slice(i));
      if (fields.length === 3) throw failure(input, 'IPv4 address too long');
      fields.push(Number(digits));
      digits = '';
    } else throw failure(input, 'unexpected character', text.slice(i));
  }
  if (fields.length < 3) throw failure(input, 'IPv4 address too short');
  return Uint8Array.from([...fields, Number(digits)]);
}

function parseV6(text: string): IpAddress {
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  if (percent >= 0 && zone === '') throw failure(text, 'zone must be a non-empty string');
  const { bytes, ellipsis } = parseV6Fields(text, percent < 0 ? text : text.slice(0, percent));
  if (bytes.length === 16) {
    if (ellipsis >= 0) throw failure(text, 'the :: must expand to at least one field of zeros');
    return new IpAddress(Uint8Array.from(bytes), zone);
  }
  if (ellipsis < 0) throw failure(text, 'address string too short');
  const zeros = new Array<number>(16 - bytes.length).fill(0);
  return new IpAddress(Uint8Array.from([...bytes.slice(0, ellipsis), ...zeros, ...bytes.slice(ellipsis)]), zone);
}

function parseV6Fields(input: string, text: string): { readonly bytes: readonly number[]; readonly ellipsis: number } {
  const bytes: number[] = [];
  let ellipsis = -1;
  let rest = text;
  if (rest.startsWith('::')) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (rest !== '' && bytes.length < 16) {
    const digits = v6Digits(input, rest);
    if (rest[digits.length] === '.') return { bytes: [...bytes, ...embeddedV4(input, rest, { ellipsis, used: bytes.length })], ellipsis };
    const value = Number.parseInt(digits, 16);
    bytes.push(value >> 8, value & 0xff);
    rest = rest.slice(digits.length);
    if (rest === '') break;
    rest = afterColon(input, rest);
    if (!rest.startsWith(':')) continue;
    if (ellipsis >= 0) throw failure(input, 'multiple :: in address', rest);
    ellipsis = bytes.length;
    rest = rest.slice(1);
  }
  if (rest !== '') throw failure(input, 'trailing garbage after address', rest);
  return { bytes, ellipsis };
}

function v6Digits(input: string, rest: string): string {
  const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? '';
  if (digits === '') throw failure(input, 'each colon-separated field must have at least one digit', rest);
  if (digits.length > 4) throw failure(input, 'each group must have 4 or less digits', rest);
  return digits;
}

function embeddedV4(input: string, rest: string, place: { readonly ellipsis: number; readonly used: number }): Uint8Array {
  if (place.ellipsis < 0 && place.used !== 12) {
    throw failure(input, 'embedded IPv4 address must replace the final 2 fields of the address', rest);
  }
  if (place.used + 4 > 16) throw failure(input, 'too many hex fields to fit an embedded IPv4 at the end of the address', rest);
  return parseV4(input, rest);
}

function afterColon(input: string, rest: string): string {
  if (!rest.startsWith(':')) throw failure(input, 'unexpected character, want colon', rest);
  if (rest.length === 1) throw failure(input, 'colon must be followed by more characters', rest);
  return rest.slice(1);
}

/** A network: an address and how many of its first bits name the network. */
export class IpPrefix {
  readonly address: IpAddress;
  readonly bits: number;

  constructor(address: IpAddress, bits: number) {
    this.address = address;
    this.bits = bits;
  }

  get masked(): IpPrefix {
    return new IpPrefix(this.address.masked(this.bits), this.bits);
  }

  contains(address: IpAddress): boolean {
    return this.address.isV4 === address.isV4 && this.address.masked(this.bits).equals(address.masked(this.bits));
  }

  /** Whether all of the other network is in this one. */
  containsPrefix(other: IpPrefix): boolean {
    return this.bits <= other.bits && this.contains(other.address);
  }

  toString(): string {
    return `${this.address}/${this.bits}`;
  }
}

/** Parses a network. Throws a NetipError. */
export function parsePrefix(text: string): IpPrefix {
  const fail = (problem: string): NetipError => new NetipError(`netip.ParsePrefix(${goQuote(text)}): ${problem}`);
  const slash = text.lastIndexOf('/');
  if (slash < 0) throw fail("no '/'");
  const address = prefixAddress(text.slice(0, slash), fail);
  if (address.zone !== '') throw fail('IPv6 zones cannot be present in a prefix');
  const bits = text.slice(slash + 1);
  if (!/^(?:[0-9]|[1-9][0-9]+)$/.test(bits)) throw fail(`bad bits after slash: ${goQuote(bits)}`);
  if (Number(bits) > (address.isV4 ? 32 : 128)) throw fail('prefix length out of range');
  return new IpPrefix(address, Number(bits));
}

function prefixAddress(text: string, fail: (problem: string) => NetipError): IpAddress {
  try {
    return parseAddress(text);
  } catch (error) {
    throw error instanceof NetipError ? fail(error.message) : error;
  }
}
