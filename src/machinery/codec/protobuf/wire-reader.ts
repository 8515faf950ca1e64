import { ProtobufError } from './protobuf-error.ts';
import { TWO_TO_32, WireType } from './wire.ts';

/**
 * Up to this size the whole input is converted to one Latin-1 string, of which ASCII fields are slices: far cheaper than decoding each. Slices keep
 * the whole string alive, so larger inputs (lists, whose items are kept individually) are decoded field by field.
 */
const MAX_SHARED_TEXT = 16 * 1024;

/** Reads the primitives of the wire format. Every read checks its bounds; `position` never passes the end of the input. */
export class WireReader {
  position = 0;
  readonly length: number;
  private readonly bytes: Buffer;
  private readonly text: string | undefined;
  // Halves of the current varint: kept here to avoid allocating an object for each.
  private low = 0;
  private fifth = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.length = bytes.byteLength;
    this.text = this.length <= MAX_SHARED_TEXT ? this.bytes.toString('latin1') : undefined;
  }

  /** A varint as an unsigned number; beyond 2^53 it is not exact. For tags, lengths and small values. */
  varint(): number {
    const first = this.bytes[this.position];
    if (first !== undefined && first < 0x80) {
      this.position++;
      return first;
    }
    return this.low32() ? this.low : this.low + this.high32() * TWO_TO_32;
  }

  /** A varint as a signed 64-bit integer: a bigint only where a number cannot hold it. */
  int64(): number | bigint {
    const first = this.bytes[this.position];
    if (first !== undefined && first < 0x80) {
      this.position++;
      return first;
    }
    if (this.low32()) return this.low;
    const high = this.high32() | 0;
    const value = this.low + high * TWO_TO_32;
    return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) | BigInt(this.low);
  }

  /** The low 32 bits of a varint as a signed integer, as upstream reads an int32. */
  int32(): number {
    const value = this.int64();
    return typeof value === 'number' ? value | 0 : Number(BigInt.asIntN(32, value));
  }

  /** Reads the low 32 bits of a varint into `low`, unsigned, and says whether that was all of it. */
  private low32(): boolean {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.low = value;
        return true;
      }
    }
    // The fifth byte is shared: four bits belong here, three to the high half.
    this.fifth = this.byte();
    this.low = (value | ((this.fifth & 0x0f) << 28)) >>> 0;
    return this.fifth < 0x10;
  }

  private high32(): number {
    let value = (this.fifth & 0x7f) >>> 4;
    if (this.fifth < 0x80) return value;
    for (let shift = 3; shift < 38; shift += 7) {
      const byte = this.byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new ProtobufError('proto: integer overflow');
  }

  private byte(): number {
    const byte = this.bytes[this.position];
    if (byte === undefined) throw endOfInput();
    this.position++;
    return byte;
  }

  double(): number {
    const at = this.advance(8);
    return this.bytes.readDoubleLE(at);
  }

  /** Reads a length and returns where the value that follows ends. */
  end(): number {
    const length = this.varint();
    const end = this.position + length;
    if (end > this.length) throw endOfInput();
    return end;
  }

  string(): string {
    const end = this.end();
    const start = this.position;
    this.position = end;
    return this.text !== undefined && this.isAscii(start, end) ? this.text.substring(start, end) : this.bytes.toString('utf8', start, end);
  }

  private isAscii(start: number, end: number): boolean {
    const { bytes } = this;
    for (let i = start; i < end; i++) if ((bytes[i] as number) > 0x7f) return false;
    return true;
  }

  base64(): string {
    const end = this.end();
    const start = this.position;
    this.position = end;
    return this.bytes.toString('base64', start, end);
  }

  slice(): Buffer {
    const end = this.end();
    const start = this.position;
    this.position = end;
    return this.bytes.subarray(start, end);
  }

  /** Skips a field. Groups are counted, not recursed into. */
  skip(wireType: number): void {
    let groups = 0;
    let type = wireType;
    for (;;) {
      if (type === WireType.startGroup) groups++;
      else if (type === WireType.endGroup) groups--;
      else this.skipValue(type);
      if (groups < 0) throw new ProtobufError('proto: unexpected end of group');
      if (groups === 0) return;
      type = this.varint() & 7;
    }
  }

  private skipValue(wireType: number): void {
    if (wireType === WireType.varint) this.int64();
    else if (wireType === WireType.fixed64) this.advance(8);
    else if (wireType === WireType.bytes) this.position = this.end();
    else if (wireType === WireType.fixed32) this.advance(4);
    else throw new ProtobufError(`proto: illegal wireType ${wireType}`);
  }

  private advance(count: number): number {
    const at = this.position;
    if (at + count > this.length) throw endOfInput();
    this.position = at + count;
    return at;
  }
}

function endOfInput(): ProtobufError {
  return new ProtobufError('unexpected EOF');
}
