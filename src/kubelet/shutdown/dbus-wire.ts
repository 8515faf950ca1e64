/** The part of D-Bus's wire format that logind's signals and properties need: little-endian, basic types, variants. */

export type DbusValue = string | number | boolean | bigint;

export interface DbusMessage {
  /** 1: call, 2: return, 3: error, 4: signal. */
  readonly type: number;
  readonly serial: number;
  readonly replySerial: number | undefined;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly errorName: string;
  readonly body: readonly DbusValue[];
}

export interface DbusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** Strings only. */
  readonly body?: readonly string[];
}

/** The size limit of a message; larger ones close the connection. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const FIXED_BYTES = 16;
const FIELD_PATH = 1;
const FIELD_INTERFACE = 2;
const FIELD_MEMBER = 3;
const FIELD_ERROR_NAME = 4;
const FIELD_REPLY_SERIAL = 5;
const FIELD_DESTINATION = 6;
const FIELD_SIGNATURE = 8;

export function encodeCall(serial: number, { destination, path, interface: owner, member, body = [] }: DbusCall): Buffer {
  const content = Buffer.concat(texts(body));
  const fields: [number, string, string][] = [
    [FIELD_PATH, 'o', path],
    [FIELD_DESTINATION, 's', destination],
    [FIELD_INTERFACE, 's', owner],
    [FIELD_MEMBER, 's', member],
    ...(body.length > 0 ? ([[FIELD_SIGNATURE, 'g', 's'.repeat(body.length)]] as [number, string, string][]) : []),
  ];
  return encodeMessage({ type: 1, serial, fields, content });
}

export interface RawMessage {
  readonly type: number;
  readonly serial: number;
  readonly fields: readonly (readonly [number, string, string | number])[];
  readonly content: Buffer;
}

export function encodeMessage({ type, serial, fields, content }: RawMessage): Buffer {
  let array: Buffer = Buffer.alloc(0);
  for (const [code, signature, value] of fields) {
    array = padded(array, 8);
    array = Buffer.concat([array, Buffer.from([code, 1, signature.charCodeAt(0), 0])]);
    if (typeof value === 'number') array = Buffer.concat([padded(array, 4), uint32(value)]);
    else if (signature === 'g') array = Buffer.concat([array, Buffer.from([value.length]), Buffer.from(`${value}\0`)]);
    else array = Buffer.concat([padded(array, 4), uint32(Buffer.byteLength(value)), Buffer.from(`${value}\0`)]);
  }
  const head = Buffer.concat([
    Buffer.from('l'),
    Buffer.from([type, 0, 1]),
    uint32(content.length),
    uint32(serial),
    uint32(array.length),
    array,
  ]);
  return Buffer.concat([padded(head, 8), content]);
}

function texts(values: readonly string[]): readonly Buffer[] {
  let all: Buffer = Buffer.alloc(0);
  for (const value of values) all = Buffer.concat([padded(all, 4), uint32(Buffer.byteLength(value)), Buffer.from(`${value}\0`)]);
  return [all];
}

function padded(buffer: Buffer, alignment: number): Buffer {
  const missing = (alignment - (buffer.length % alignment)) % alignment;
  return missing === 0 ? buffer : Buffer.concat([buffer, Buffer.alloc(missing)]);
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

/** The length of the first message; undefined: its header is incomplete. Throws on an invalid length. */
export function messageLength(buffer: Buffer): number | undefined {
  if (buffer.length < FIXED_BYTES) return undefined;
  if (buffer[0] !== 'l'.charCodeAt(0)) throw new Error('the bus does not speak little-endian D-Bus');
  const length = FIXED_BYTES + Math.ceil(buffer.readUInt32LE(12) / 8) * 8 + buffer.readUInt32LE(4);
  if (length > MAX_MESSAGE_BYTES) throw new Error(`the bus sent a message of ${length} bytes`);
  return length;
}

export function decodeMessage(buffer: Buffer): DbusMessage {
  const fieldsEnd = FIXED_BYTES + buffer.readUInt32LE(12);
  const reader = new Reader(buffer.subarray(0, fieldsEnd), FIXED_BYTES);
  const fields = new Map<number, DbusValue>();
  while (reader.offset < fieldsEnd) {
    reader.align(8);
    const code = reader.byte();
    fields.set(code, reader.value(reader.signature()));
  }
  const text = (code: number) => String(fields.get(code) ?? '');
  const replySerial = fields.get(FIELD_REPLY_SERIAL);
  return {
    ...{ type: buffer[1] ?? 0, serial: buffer.readUInt32LE(8), replySerial: replySerial === undefined ? undefined : Number(replySerial) },
    ...{ path: text(FIELD_PATH), interface: text(FIELD_INTERFACE), member: text(FIELD_MEMBER), errorName: text(FIELD_ERROR_NAME) },
    body: decodeBody(buffer.subarray(Math.ceil(fieldsEnd / 8) * 8), text(FIELD_SIGNATURE)),
  };
}

/** Stops at the first unsupported type. */
function decodeBody(content: Buffer, signature: string): readonly DbusValue[] {
  const reader = new Reader(content, 0);
  const values: DbusValue[] = [];
  for (const type of signature) {
    if (!'sogbuitxyv'.includes(type)) break;
    values.push(reader.value(type));
  }
  return values;
}

class Reader {
  constructor(
    private readonly buffer: Buffer,
    public offset: number,
  ) {}

  align(alignment: number): void {
    this.offset = Math.ceil(this.offset / alignment) * alignment;
  }

  byte(): number {
    return this.buffer.readUInt8(this.offset++);
  }

  signature(): string {
    return this.#text(this.byte());
  }

  value(type: string): DbusValue {
    switch (type) {
      case 's':
      case 'o':
        return this.#text(this.#number(4));
      case 'g':
        return this.signature();
      case 'b':
        return this.#number(4) !== 0;
      case 'u':
      case 'i':
        return this.#number(4);
      case 'y':
        return this.byte();
      case 'v':
        return this.value(this.signature());
      case 't':
      case 'x':
        this.align(8);
        this.offset += 8;
        return this.buffer.readBigUInt64LE(this.offset - 8);
      default:
        throw new Error(`a D-Bus value of the type ${type} cannot be read`);
    }
  }

  #number(bytes: number): number {
    this.align(bytes);
    this.offset += bytes;
    return this.buffer.readUInt32LE(this.offset - bytes);
  }

  #text(length: number): string {
    const text = this.buffer.toString('utf8', this.offset, this.offset + length);
    this.offset += length + 1;
    return text;
  }
}
