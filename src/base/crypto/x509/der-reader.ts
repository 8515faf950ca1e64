import { CONSTRUCTED, TAG } from './der.ts';

/** A DER element. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With tag and length. */
  readonly encoded: Uint8Array;
}

/** Invalid DER, with the message of Go's library. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

export function syntaxError(problem: string): DerError {
  return new DerError(`asn1: syntax error: ${problem}`);
}

export function structureError(problem: string): DerError {
  return new DerError(`asn1: structure error: ${problem}`);
}

interface Header {
  readonly tag: number;
  readonly length: number;
  /** The offset of the content. */
  readonly start: number;
}

const MAX_LENGTH = 1 << 23;
const MULTI_BYTE_TAG = 0x1f;
// Go prints the tags of the target field. A sequence has none.
const PLAIN_FIELD =
  '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}';

function headerAt(bytes: Uint8Array, offset: number): Header {
  const tag = bytes[offset];
  const first = bytes[offset + 1];
  if (tag === undefined) throw syntaxError('sequence truncated');
  if ((tag & MULTI_BYTE_TAG) === MULTI_BYTE_TAG) throw structureError('tags of more than one byte are not supported');
  if (first === undefined) throw syntaxError('truncated tag or length');
  if (first < 0x80) return { tag, length: first, start: offset + 2 };
  if (first === 0x80) throw syntaxError('indefinite length found (not DER)');
  const start = offset + 2 + (first & 0x7f);
  return { tag, length: longLength(bytes.subarray(offset + 2, start), first & 0x7f), start };
}

function longLength(bytes: Uint8Array, size: number): number {
  let length = 0;
  for (const byte of bytes) {
    if (length >= MAX_LENGTH) throw structureError('length too large');
    length = length * 256 + byte;
    if (length === 0) throw structureError('superfluous leading zeros in length');
  }
  if (bytes.length < size) throw syntaxError('truncated tag or length');
  if (length < 0x80) throw structureError('non-minimal length');
  return length;
}

function elementAt(bytes: Uint8Array, offset: number): DerElement {
  const { tag, length, start } = headerAt(bytes, offset);
  const end = start + length;
  if (end > bytes.length) throw syntaxError('data truncated');
  return { tag, content: bytes.subarray(start, end), encoded: bytes.subarray(offset, end) };
}

/** The element at the start of the bytes. */
export function readElement(bytes: Uint8Array): DerElement {
  return elementAt(bytes, 0);
}

/** As `readElement`, without trailing data. */
export function readOnlyElement(bytes: Uint8Array): DerElement {
  const element = elementAt(bytes, 0);
  if (element.encoded.length < bytes.length) throw syntaxError('trailing data');
  return element;
}

/** Throws unless the bytes start with a sequence. `type` is Go's name of the target struct. */
export function expectSequence(bytes: Uint8Array, type: string): void {
  const { tag, length, start } = headerAt(bytes, 0);
  if (tag === TAG.sequence) return;
  const actual = `{class:${tag >> 6} tag:${tag & MULTI_BYTE_TAG} length:${length} isCompound:${(tag & CONSTRUCTED) !== 0}}`;
  throw structureError(`tags don't match (16 vs ${actual}) ${PLAIN_FIELD} ${type} @${start}`);
}

/** The elements inside one; with `tag`, all must have it. */
export function childrenOf({ tag, content }: DerElement, childTag?: number): readonly DerElement[] {
  if ((tag & CONSTRUCTED) === 0) throw structureError('an element was expected to hold others');
  const children: DerElement[] = [];
  for (let offset = 0; offset < content.length; ) {
    const child = elementAt(content, offset);
    if (childTag !== undefined && child.tag !== childTag) throw structureError('sequence tag mismatch');
    children.push(child);
    offset += child.encoded.length;
  }
  return children;
}

/** An object identifier, in dotted form. */
export function readOid({ tag, content }: DerElement): string {
  if (tag !== TAG.oid) throw structureError("tags don't match");
  if (content.length === 0) throw syntaxError('zero length OBJECT IDENTIFIER');
  const parts: number[] = [];
  for (let offset = 0; offset < content.length; ) {
    const end = base128End(content, offset);
    const value = content.subarray(offset, end).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
    if (parts.length > 0) parts.push(value);
    else parts.push(Math.min(2, Math.trunc(value / 40)), value - 40 * Math.min(2, Math.trunc(value / 40)));
    offset = end;
  }
  return parts.join('.');
}

const MAX_BASE128_BYTES = 4;

function base128End(bytes: Uint8Array, start: number): number {
  if (bytes[start] === 0x80) throw syntaxError('integer is not minimally encoded');
  for (let i = start; i < bytes.length; i++) {
    if (i - start === MAX_BASE128_BYTES) throw structureError('base 128 integer too large');
    if ((bytes[i]! & 0x80) === 0) return i + 1;
  }
  throw syntaxError('truncated base 128 integer');
}

/** The bytes of a bit string of whole bytes. */
export function readBitString({ tag, content }: DerElement): Uint8Array {
  if (tag !== TAG.bitString) throw structureError("tags don't match");
  if (content.length === 0) throw syntaxError('zero length BIT STRING');
  if (content[0] !== 0) throw syntaxError('invalid padding bits in BIT STRING');
  return content.subarray(1);
}

const PRINTABLE = /^[A-Za-z0-9'()+,\-./ :=?*&]*$/;
const NUMERIC = /^[0-9 ]*$/;

/** A string of any type that Go supports; undefined for other types, which are ignored. Throws for invalid characters. */
export function readText({ tag, content }: DerElement): string | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  switch (tag) {
    case TAG.printableString:
      return matching(bytes, PRINTABLE, 'PrintableString');
    case TAG.numericString:
      return matching(bytes, NUMERIC, 'NumericString');
    case TAG.ia5String:
      if (bytes.some((byte) => byte >= 0x80)) throw syntaxError('IA5String contains invalid character');
      return bytes.toString('latin1');
    case TAG.t61String:
      return bytes.toString('latin1');
    case TAG.utf8String:
      return utf8(bytes);
    case TAG.bmpString:
      return bmp(bytes);
    default:
      return undefined;
  }
}

function matching(bytes: Buffer, pattern: RegExp, type: string): string {
  const text = bytes.toString('latin1');
  if (!pattern.test(text)) throw syntaxError(`${type} contains invalid character`);
  return text;
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new DerError('asn1: invalid UTF-8 string', { cause });
  }
}

/** UCS-2 without surrogates and noncharacters; a terminator is dropped. */
function bmp(bytes: Buffer): string {
  if (bytes.length % 2 !== 0) throw new DerError('invalid BMPString');
  const codes = Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16BE(2 * i));
  if (codes.at(-1) === 0) codes.pop();
  if (codes.some(isReservedCode)) throw new DerError('invalid BMPString');
  return codes.map((code) => String.fromCharCode(code)).join('');
}

function isReservedCode(code: number): boolean {
  return (code >= 0xd800 && code <= 0xdfff) || (code >= 0xfdd0 && code <= 0xfdef) || code >= 0xfffe;
}
