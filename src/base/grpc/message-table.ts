import { GrpcError, grpcStatus } from './grpc-error.ts';
import { MessageReader, MessageWriter } from './wire-format.ts';

/**
 * Message tables: `message({ name: field(1, 'string'), ports: repeated(2, 'int32') })`. As in proto3, absent values decode to '', 0, false, an empty
 * list or map; absent messages and `optional` fields are undefined. 64-bit numbers decode to the nearest double, `exact64` to bigint.
 */
export interface MessageType<Out, In> {
  encode(value: In): Buffer;
  /** Throws a GrpcError for invalid messages. */
  decode(bytes: Uint8Array): Out;
}

interface ScalarTypes {
  string: string;
  bytes: Uint8Array;
  bool: boolean;
  int32: number;
  uint32: number;
  int64: number;
  uint64: number;
  double: number;
  exact64: bigint;
  fixed64: bigint;
}

export type Scalar = keyof ScalarTypes;

/** Names of an enumeration's numbers. */
export interface EnumType<Name extends string> {
  readonly toNumber: ReadonlyMap<Name, number>;
  readonly toName: ReadonlyMap<number, Name>;
  /** The name for unknown numbers, which later protocol versions may send. Undefined: they are errors. */
  readonly unnamed?: Name | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: any message type will do
type AnyMessage = MessageType<any, any>;
type AnyType = Scalar | EnumType<string> | AnyMessage;

type OutOf<T> = T extends Scalar ? ScalarTypes[T] : T extends EnumType<infer N> ? N : T extends MessageType<infer O, infer _> ? O : never;
type InOf<T> = T extends Scalar ? ScalarTypes[T] : T extends EnumType<infer N> ? N : T extends MessageType<infer _, infer I> ? I : never;

export interface Field<Out, In> {
  readonly number: number;
  write(writer: MessageWriter, value: In): void;
  /** `before`: the value of earlier occurrences of the field. */
  read(reader: MessageReader, before: Out): Out;
  /** Creates the value of an absent field; undefined: it is omitted. */
  absent(): Out;
}

// biome-ignore lint/suspicious/noExplicitAny: any field will do
type Fields = Readonly<Record<string, Field<any, any>>>;
type FieldOut<T> = T extends Field<infer O, infer _> ? O : never;
type OutOfFields<F extends Fields> = { readonly [K in keyof F as undefined extends FieldOut<F[K]> ? never : K]: FieldOut<F[K]> } & {
  readonly [K in keyof F as undefined extends FieldOut<F[K]> ? K : never]?: Exclude<FieldOut<F[K]>, undefined>;
};
type InOfFields<F extends Fields> = { readonly [K in keyof F]?: (F[K] extends Field<infer _, infer I> ? I : never) | undefined };

export type MessageOf<T> = T extends MessageType<infer O, infer _> ? O : never;
export type MessageInput<T> = T extends MessageType<infer _, infer I> ? I : never;

export function message<F extends Fields>(fields: F): MessageType<OutOfFields<F>, InOfFields<F>> {
  const entries = Object.entries(fields);
  const byNumber = new Map(entries.map(([name, field]) => [field.number, { name, field }]));
  return {
    encode(value) {
      const writer = new MessageWriter();
      for (const [name, field] of entries) {
        const member = (value as Readonly<Record<string, unknown>>)[name];
        if (member !== undefined) field.write(writer, member);
      }
      return writer.finish();
    },
    decode(bytes) {
      const value: Record<string, unknown> = {};
      for (const [name, field] of entries) {
        const absent: unknown = field.absent();
        if (absent !== undefined) value[name] = absent;
      }
      const reader = new MessageReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      malformedIsInternal(() => {
        while (reader.next()) {
          const entry = byNumber.get(reader.field);
          if (entry !== undefined) value[entry.name] = entry.field.read(reader, value[entry.name]);
        }
      });
      return value as OutOfFields<F>;
    },
  };
}

function malformedIsInternal(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (error instanceof GrpcError) throw error;
    throw new GrpcError(grpcStatus.internal, (error as Error).message, { cause: error });
  }
}

/** Names in the order of their numbers, from 0. Larger numbers decode to the unknown name, if there is one. */
export function enumeration<const Name extends string>(...names: readonly Name[]): EnumType<Name> {
  const toNumber = new Map(names.map((name, number) => [name, number]));
  const toName = new Map(names.map((name, number) => [number, name]));
  return { toNumber, toName, unnamed: names.find((name) => name.toUpperCase() === 'UNKNOWN') };
}

interface Codec {
  write(writer: MessageWriter, number: number, value: unknown): void;
  read(reader: MessageReader): unknown;
  /** Undefined: there is no default value. */
  absent(): unknown;
  /** Written even if it is the default. */
  writePresent(writer: MessageWriter, number: number, value: unknown): void;
  readonly isNumeric: boolean;
}

const NUMBER: Codec = {
  write: (writer, number, value) => void writer.number(number, value as number),
  writePresent: (writer, number, value) => void writer.presentNumber(number, value as number),
  read: (reader) => reader.number(),
  absent: () => 0,
  isNumeric: true,
};

const UNSIGNED: Codec = { ...NUMBER, read: (reader) => Number(reader.big()) };

const SCALARS: Readonly<Record<Scalar, Codec>> = {
  int32: NUMBER,
  uint32: NUMBER,
  int64: NUMBER,
  uint64: UNSIGNED,
  string: {
    write: (writer, number, value) => void writer.text(number, value as string),
    writePresent: (writer, number, value) => void writer.message(number, Buffer.from(value as string)),
    read: (reader) => reader.text(),
    absent: () => '',
    isNumeric: false,
  },
  bytes: {
    write: (writer, number, value) => void writer.bytes(number, value as Uint8Array),
    writePresent: (writer, number, value) => void writer.message(number, value as Uint8Array),
    read: (reader) => reader.bytes(),
    absent: () => EMPTY,
    isNumeric: false,
  },
  bool: {
    write: (writer, number, value) => void writer.flag(number, value as boolean),
    writePresent: (writer, number, value) => void writer.presentNumber(number, value === true ? 1 : 0),
    read: (reader) => reader.flag(),
    absent: () => false,
    isNumeric: false,
  },
  double: {
    write: (writer, number, value) => void writer.double(number, value as number),
    writePresent: (writer, number, value) => void writer.double(number, value as number),
    read: (reader) => reader.double(),
    absent: () => 0,
    isNumeric: false,
  },
  fixed64: {
    write: (writer, number, value) => void writer.fixed64(number, value as bigint),
    writePresent: (writer, number, value) => void writer.fixed64(number, value as bigint),
    read: (reader) => reader.fixed64(),
    absent: () => 0n,
    isNumeric: false,
  },
  exact64: {
    write: (writer, number, value) => void writer.big(number, value as bigint),
    writePresent: (writer, number, value) => void writer.big(number, value as bigint),
    read: (reader) => BigInt.asIntN(64, reader.big()),
    absent: () => 0n,
    isNumeric: false,
  },
};

const EMPTY = new Uint8Array(0);

function codecOf(type: AnyType): Codec {
  if (typeof type === 'string') return SCALARS[type];
  return 'toNumber' in type ? enumCodec(type) : messageCodec(type);
}

function enumCodec({ toNumber, toName, unnamed }: EnumType<string>): Codec {
  const numberOf = (name: string) => {
    const number = toNumber.get(name);
    if (number === undefined) throw new TypeError(`${JSON.stringify(name)} is none of ${[...toNumber.keys()].join(', ')}`);
    return number;
  };
  const nameOf = (number: number) => {
    const name = toName.get(number) ?? unnamed;
    if (name === undefined) throw new GrpcError(grpcStatus.internal, `malformed message: enumeration value ${number}`);
    return name;
  };
  return {
    write: (writer, number, value) => void writer.number(number, numberOf(value as string)),
    writePresent: (writer, number, value) => void writer.presentNumber(number, numberOf(value as string)),
    read: (reader) => nameOf(reader.number()),
    absent: () => nameOf(0),
    isNumeric: false,
  };
}

function messageCodec(type: AnyMessage): Codec {
  const write: Codec['write'] = (writer, number, value) => void writer.message(number, type.encode(value));
  return { write, writePresent: write, read: (reader) => type.decode(reader.bytes()), absent: () => undefined, isNumeric: false };
}

type SingleOut<T> = T extends AnyMessage ? OutOf<T> | undefined : OutOf<T>;

/** One value; absent messages are omitted. */
export function field<const T extends AnyType>(number: number, type: T): Field<SingleOut<T>, InOf<T>> {
  const codec = codecOf(type);
  return {
    number,
    write: (writer, value) => codec.write(writer, number, value),
    read: (reader) => codec.read(reader) as SingleOut<T>,
    absent: () => codec.absent() as SingleOut<T>,
  };
}

/** A message that decodes to an empty one if absent. */
export function embedded<Out, In>(number: number, type: MessageType<Out, In>): Field<Out, In> {
  return {
    number,
    write: (writer, value) => void writer.message(number, type.encode(value)),
    read: (reader) => type.decode(reader.bytes()),
    absent: () => type.decode(EMPTY),
  };
}

/** A scalar with presence: proto3's `optional`, or a member of a oneof. */
export function optional<const T extends Scalar | EnumType<string>>(number: number, type: T): Field<OutOf<T> | undefined, InOf<T>> {
  const codec = codecOf(type);
  return {
    number,
    write: (writer, value) => codec.writePresent(writer, number, value),
    read: (reader) => codec.read(reader) as OutOf<T>,
    absent: () => undefined,
  };
}

/** A wrapped scalar, as Int64Value: undefined if absent. */
export function wrapped<const T extends Scalar>(number: number, type: T): Field<ScalarTypes[T] | undefined, ScalarTypes[T]> {
  const wrapper = message({ value: field(1, type) });
  return {
    number,
    write: (writer, value) => void writer.message(number, wrapper.encode({ value } as never)),
    read: (reader) => (wrapper.decode(reader.bytes()) as unknown as { readonly value: ScalarTypes[T] }).value,
    absent: () => undefined,
  };
}

export function repeated<const T extends AnyType>(number: number, type: T): Field<readonly OutOf<T>[], readonly InOf<T>[]> {
  const codec = codecOf(type);
  return {
    number,
    write(writer, values) {
      if (codec.isNumeric) writer.packed(number, values as readonly number[]);
      else for (const value of values) codec.writePresent(writer, number, value);
    },
    read(reader, before) {
      const list = before as OutOf<T>[];
      if (codec.isNumeric) for (const value of reader.numbers()) list.push(value as OutOf<T>);
      else list.push(codec.read(reader) as OutOf<T>);
      return list;
    },
    absent: () => [],
  };
}

/** map<string, string>. Null-prototype: keys come from outside. */
export function stringMap(number: number): Field<Readonly<Record<string, string>>, Readonly<Record<string, string>>> {
  const entry = message({ key: field(1, 'string'), value: field(2, 'string') });
  return {
    number,
    write(writer, values) {
      for (const [key, value] of Object.entries(values)) writer.message(number, entry.encode({ key, value }));
    },
    read(reader, before) {
      const { key, value } = entry.decode(reader.bytes());
      (before as Record<string, string>)[key] = value;
      return before;
    },
    absent: () => Object.create(null) as Record<string, string>,
  };
}
