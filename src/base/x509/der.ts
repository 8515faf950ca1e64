/** One element of DER, the encoding of certificates. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With tag and length. */
  readonly whole: Uint8Array;
}

/** Bytes that are not what they should be. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONSTRUCTED = 0x20;
const CONTEXT = 0x80;

/** The tag of a member that is known by its number; those that hold elements are marked so. */
export function contextTag(number: number, isConstructed: boolean): number {
  return CONTEXT | (isConstructed ? CONSTRUCTED : 0) | number;
}

// --- writing -------------------------------------------------------------------------------------------------------

export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

function lengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...parts);
}

/** Of an unsigned number, most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  // A first bit that is set would make it negative.
  return der(TAG.integer, ...(digits[0]! >= 0x80 ? [Buffer.from([0])] : []), digits);
}

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(TAG.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | 0x80);
  return bytes;
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(TAG.bitString, Buffer.from([unusedBits]), bytes);
}

export function boolean(value: boolean): Buffer {
  return der(TAG.boolean, Buffer.from([value ? 0xff : 0]));
}

/** Two-digit years until 2049, as the standard demands. */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '');
  const isShort = digits.startsWith('19') || (digits.startsWith('20') && digits < '2050');
  return isShort ? der(TAG.utcTime, Buffer.from(digits.slice(2))) : der(TAG.generalizedTime, Buffer.from(digits));
}

// --- reading -------------------------------------------------------------------------------------------------------

/** The element that the bytes begin with. */
export function readElement(bytes: Uint8Array): DerElement {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) throw new DerError('truncated tag or length');
  const lengthSize = first < 0x80 ? 0 : first & 0x7f;
  let length = first < 0x80 ? first : 0;
  for (let i = 0; i < lengthSize; i++) length = length * 256 + (bytes[2 + i] ?? 0);
  const start = 2 + lengthSize;
  if (first === 0x80 || lengthSize > 4 || start + length > bytes.length) throw new DerError('data truncated');
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}

export function childrenOf({ tag, content }: DerElement): readonly DerElement[] {
  if ((tag & CONSTRUCTED) === 0) throw new DerError('an element was expected to hold others');
  const children: DerElement[] = [];
  for (let rest = content; rest.length > 0; ) {
    const child = readElement(rest);
    children.push(child);
    rest = rest.subarray(child.whole.length);
  }
  return children;
}

export function oidText(bytes: Uint8Array): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0) parts.push(Math.min(2, Math.trunc(value / 40)), value - 40 * Math.min(2, Math.trunc(value / 40)));
    else parts.push(value);
    value = 0;
  }
  return parts.join('.');
}
