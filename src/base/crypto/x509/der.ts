export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

export const CONSTRUCTED = 0x20;
const CONTEXT = 0x80;

/** A context-specific tag; constructed ones are marked so. */
export function contextTag(number: number, isConstructed: boolean): number {
  return CONTEXT | (isConstructed ? CONSTRUCTED : 0) | number;
}

export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  return derOf(tag, parts);
}

function derOf(tag: number, parts: readonly Uint8Array[]): Buffer {
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
  return sequenceOf(parts);
}

/** Of a list of any length. */
export function sequenceOf(parts: readonly Uint8Array[]): Buffer {
  return derOf(TAG.sequence, parts);
}

/** Of an unsigned number, most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  // A leading zero byte keeps it positive.
  return digits[0]! >= 0x80 ? der(TAG.integer, Buffer.from([0]), digits) : der(TAG.integer, digits);
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

/** Two-digit years until 2049, as the standard requires. */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '');
  const isShort = digits.startsWith('19') || (digits.startsWith('20') && digits < '2050');
  return isShort ? der(TAG.utcTime, Buffer.from(digits.slice(2))) : der(TAG.generalizedTime, Buffer.from(digits));
}
