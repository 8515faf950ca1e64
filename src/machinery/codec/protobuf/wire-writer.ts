import { TWO_TO_32 } from './wire.ts';

const INITIAL_CAPACITY = 4096;
/** Shorter strings are copied faster here than by a native call. */
const SHORT_TEXT = 32;

/** Writes the primitives of the wire format into one buffer that grows. */
export class WireWriter {
  private bytes = Buffer.allocUnsafe(INITIAL_CAPACITY);
  private position = 0;

  /** The written bytes, in their own memory: a slice of Node's pool would keep the whole pool alive while the message is cached. */
  finish(): Buffer {
    const written = Buffer.allocUnsafeSlow(this.position);
    this.bytes.copy(written, 0, 0, this.position);
    return written;
  }

  varint(value: number): void {
    this.reserve(10);
    let rest = value;
    while (rest >= TWO_TO_32) {
      this.bytes[this.position++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.small(rest >>> 0);
  }

  private small(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.position++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.position++] = rest;
  }

  /** A signed integer; negative ones take ten bytes. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value);
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    this.reserve(10);
    while (rest > 0x7fn) {
      this.bytes[this.position++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.bytes[this.position++] = Number(rest);
  }

  double(value: number): void {
    this.reserve(8);
    this.position = this.bytes.writeDoubleLE(value, this.position);
  }

  /** A string with its length in front. */
  string(text: string): void {
    if (text.length < SHORT_TEXT && this.shortAscii(text)) return;
    const at = this.begin();
    this.reserve(text.length * 3);
    this.position += this.bytes.write(text, this.position, 'utf8');
    this.end(at);
  }

  private shortAscii(text: string): boolean {
    this.reserve(SHORT_TEXT);
    const { bytes, position } = this;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[position + 1 + i] = code;
    }
    bytes[position] = text.length;
    this.position = position + 1 + text.length;
    return true;
  }

  base64(text: string): void {
    const at = this.begin();
    this.reserve(text.length);
    this.position += this.bytes.write(text, this.position, 'base64');
    this.end(at);
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.position);
    this.position += bytes.length;
  }

  /** Starts a value whose length is not known yet; `end` fills it in. */
  begin(): number {
    this.reserve(1);
    return this.position++;
  }

  end(begin: number): void {
    const start = begin + 1;
    const length = this.position - start;
    if (length < 0x80) {
      this.bytes[begin] = length;
      return;
    }
    const extra = varintSize(length) - 1;
    this.reserve(extra);
    this.bytes.copyWithin(start + extra, start, this.position);
    this.position = begin;
    this.small(length);
    this.position = start + extra + length;
  }

  private reserve(count: number): void {
    const needed = this.position + count;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.position);
    this.bytes = larger;
  }
}

/** How many bytes a length takes. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
  return size;
}
