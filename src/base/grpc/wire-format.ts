/** Protobuf's wire format. Numbers are safe integers, unless stated otherwise. */

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Builds one message. Fields with default values are omitted, as in proto3. */
export class MessageWriter {
  readonly #parts: Uint8Array[] = [];

  /** int64, uint64, enum or bool; negative numbers take ten bytes. */
  number(field: number, value: number): this {
    if (value !== 0) this.#parts.push(varint(field * 8 + VARINT), varint(value));
    return this;
  }

  /** A number that is written even if it is 0: a member of a oneof. */
  presentNumber(field: number, value: number): this {
    this.#parts.push(varint(field * 8 + VARINT), varint(value));
    return this;
  }

  /** An int64 or uint64 that may be beyond the safe integers. */
  big(field: number, value: bigint): this {
    if (value !== 0n) this.#parts.push(varint(field * 8 + VARINT), bigVarint(BigInt.asUintN(64, value)));
    return this;
  }

  flag(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0);
  }

  double(field: number, value: number): this {
    if (value === 0) return this;
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(varint(field * 8 + FIXED64), bytes);
    return this;
  }

  /** A fixed64, unsigned. */
  fixed64(field: number, value: bigint): this {
    if (value === 0n) return this;
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    this.#parts.push(varint(field * 8 + FIXED64), bytes);
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value));
  }

  bytes(field: number, value: Uint8Array): this {
    if (value.length > 0) this.#push(field, value);
    return this;
  }

  packed(field: number, values: readonly number[]): this {
    return this.bytes(field, Buffer.concat(values.map(varint)));
  }

  /** An embedded message; it is written even when it is empty. */
  message(field: number, value: Uint8Array): this {
    this.#push(field, value);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #push(field: number, value: Uint8Array): void {
    this.#parts.push(varint(field * 8 + BYTES), varint(value.length), value);
  }
}

function varint(value: number): Uint8Array {
  if (value < 0) return bigVarint(BigInt.asUintN(64, BigInt(value)));
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function bigVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** Iterates over the fields of one message: `while (reader.next()) switch (reader.field) …`. Unread fields are skipped. */
export class MessageReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #wire = VARINT;
  #unread = false;
  field = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  next(): boolean {
    if (this.#unread) this.#skip();
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.field = Math.floor(tag / 8);
    this.#wire = tag % 8;
    if (this.field < 1) throw new Error('malformed message: field number 0');
    this.#unread = true;
    return true;
  }

  number(): number {
    this.#expect(VARINT);
    return this.#varint();
  }

  flag(): boolean {
    return this.number() !== 0;
  }

  /** All 64 bits, unsigned. */
  big(): bigint {
    this.#expect(VARINT);
    return this.#bigVarint();
  }

  double(): number {
    this.#expect(FIXED64);
    const start = this.#at;
    this.#advance(8);
    return this.#bytes.readDoubleLE(start);
  }

  fixed64(): bigint {
    this.#expect(FIXED64);
    const start = this.#at;
    this.#advance(8);
    return this.#bytes.readBigUInt64LE(start);
  }

  /** The numbers of a repeated field, packed or single. */
  numbers(): number[] {
    if (this.#wire === VARINT) return [this.number()];
    const packed = new MessageReader(this.bytes());
    const values: number[] = [];
    while (packed.#at < packed.#end) values.push(packed.#varint());
    return values;
  }

  /** Not copied: a view of the response, which is never changed. */
  bytes(): Buffer {
    this.#expect(BYTES);
    const length = this.#varint();
    const start = this.#at;
    this.#advance(length);
    return this.#bytes.subarray(start, this.#at);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  message(): MessageReader {
    return new MessageReader(this.bytes());
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw new Error(`malformed message: field ${this.field} has wire type ${this.#wire}`);
    this.#unread = false;
  }

  #skip(): void {
    this.#unread = false;
    if (this.#wire === VARINT) this.#varint();
    else if (this.#wire === BYTES) this.#advance(this.#varint());
    else if (this.#wire === FIXED64) this.#advance(8);
    else if (this.#wire === FIXED32) this.#advance(4);
    else throw new Error(`malformed message: wire type ${this.#wire}`);
  }

  #advance(length: number): void {
    if (length < 0 || this.#at + length > this.#end) throw new Error('malformed message: it is cut off');
    this.#at += length;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new Error('malformed message: it is cut off');
    return this.#bytes[this.#at++]!;
  }

  #varint(): number {
    const start = this.#at;
    let value = 0;
    let factor = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    // More than 56 bits: a negative number takes ten bytes.
    this.#at = start;
    return Number(BigInt.asIntN(64, this.#bigVarint()));
  }

  #bigVarint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Error('malformed message: a number is too long');
  }
}
