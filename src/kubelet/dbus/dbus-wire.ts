/** The part of D-Bus's wire format that logind and systemd need: little-endian; calls of any types, answers of basic types and variants. */

export type DbusValue = string | number | boolean | bigint;

/** What a call sends; structures and arrays are lists. */
export type DbusInput = DbusValue | DbusVariant | readonly DbusInput[];

export interface DbusVariant {
  /** One complete type, such as `as`. */
  readonly type: string;
  readonly value: DbusInput;
}

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
  readonly body?: readonly DbusInput[];
  /** Of the body. Default: strings. */
  readonly signature?: string;
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

export function encodeCall(serial: number, { destination, path, interface: owner, member, body = [], signature }: DbusCall): Buffer {
  const types = signature ?? 's'.repeat(body.length);
  const fields: [number, string, string][] = [
    [FIELD_PATH, 'o', path],
    [FIELD_DESTINATION, 's', destination],
    [FIELD_INTERFACE, 's', owner],
    [FIELD_MEMBER, 's', member],
    ...(types === '' ? [] : ([[FIELD_SIGNATURE, 'g', types]] as [number, string, string][])),
  ];
  return encodeMessage({ type: 1, serial, fields, content: encodeBody(types, body) });
}

/** The values of a message, by its signature. */
export function encodeBody(signature: string, values: readonly DbusInput[]): Buffer {
  const writer = new Writer();
  writer.values(signature, values);
  return writer.bytes();
}

export interface RawMessage {
  readonly type: number;
  readonly serial: number;
  readonly fields: readonly (readonly [number, string, string | number])[];
  readonly content: Buffer;
}

export function encodeMessage({ type, serial, fields, content }: RawMessage): Buffer {
  const writer = new Writer();
  const variants = fields.map(([code, signature, value]) => [code, { type: signature, value }]);
  writer.values('yyyyuua(yv)', ['l'.charCodeAt(0), type, 0, 1, content.length, serial, variants]);
  writer.align(8);
  return Buffer.concat([writer.bytes(), content]);
}

class Writer {
  readonly #parts: Buffer[] = [];
  #length = 0;

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  align(alignment: number): void {
    this.#push(Buffer.alloc((alignment - (this.#length % alignment)) % alignment));
  }

  values(signature: string, values: readonly DbusInput[]): void {
    const types = completeTypes(signature);
    if (types.length !== values.length) throw new Error(`${values.length} D-Bus values for the signature ${signature}`);
    for (const [index, type] of types.entries()) this.#value(type, values[index]!);
  }

  #value(type: string, value: DbusInput): void {
    switch (type[0]) {
      case 's':
      case 'o':
        this.#text(String(value));
        break;
      case 'g':
        this.#signature(String(value));
        break;
      case 'y':
        this.#push(Buffer.from([Number(value)]));
        break;
      case 'b':
      case 'u':
        this.#uint32(Number(value));
        break;
      case 't':
        this.#uint64(BigInt(value as number | bigint));
        break;
      case 'v':
        this.#variant(value as DbusVariant);
        break;
      case 'a':
        this.#array(type.slice(1), value as readonly DbusInput[]);
        break;
      case '(':
        this.align(8);
        this.values(type.slice(1, -1), value as readonly DbusInput[]);
        break;
      default:
        throw new Error(`a D-Bus value of the type ${type} cannot be written`);
    }
  }

  #variant({ type, value }: DbusVariant): void {
    this.#signature(type);
    this.#value(type, value);
  }

  /** Its length does not count the padding before the first element. */
  #array(type: string, values: readonly DbusInput[]): void {
    this.#uint32(0);
    const length = this.#parts.at(-1)!;
    this.align(alignmentOf(type));
    const start = this.#length;
    for (const value of values) this.#value(type, value);
    length.writeUInt32LE(this.#length - start);
  }

  #text(text: string): void {
    this.#uint32(Buffer.byteLength(text));
    this.#push(Buffer.from(`${text}\0`));
  }

  #signature(text: string): void {
    this.#push(Buffer.concat([Buffer.from([text.length]), Buffer.from(`${text}\0`)]));
  }

  #uint32(value: number): void {
    this.align(4);
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32LE(value);
    this.#push(buffer);
  }

  #uint64(value: bigint): void {
    this.align(8);
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64LE(value);
    this.#push(buffer);
  }

  #push(buffer: Buffer): void {
    this.#parts.push(buffer);
    this.#length += buffer.length;
  }
}

function alignmentOf(type: string): number {
  if ('(tx'.includes(type[0]!)) return 8;
  return 'soaubi'.includes(type[0]!) ? 4 : 1;
}

/** `ssa(sv)` consists of `s`, `s` and `a(sv)`. */
function completeTypes(signature: string): readonly string[] {
  const types: string[] = [];
  let start = 0;
  let depth = 0;
  for (const [index, letter] of [...signature].entries()) {
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    if (depth > 0 || letter === 'a') continue;
    types.push(signature.slice(start, index + 1));
    start = index + 1;
  }
  return types;
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
