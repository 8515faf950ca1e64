import { ProtobufError } from './protobuf-error.ts';
import { tagOf, WireType } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { varintSize, WireWriter } from './wire-writer.ts';

/** The metadata of an enveloped message. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface Envelope extends TypeMeta {
  /** The message, still encoded. A view into the bytes it came from. */
  readonly message: Buffer;
}

/** `k8s` and a zero byte: every body of `application/vnd.kubernetes.protobuf` begins so. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

const FIRST = tagOf(1, WireType.bytes);
const SECOND = tagOf(2, WireType.bytes);
const THIRD = tagOf(3, WireType.bytes);
const FOURTH = tagOf(4, WireType.bytes);

export function isEnvelope(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC.length && MAGIC.every((byte, i) => bytes[i] === byte);
}

/** Wraps a message for the wire: `k8s\0` and a runtime.Unknown that names its kind. */
export function encodeEnvelope(type: TypeMeta, message: Uint8Array): Buffer {
  return new EnvelopeEncoding(type).wrap([message]);
}

/** The envelopes of one kind. The prefix is encoded once, so wrapping cached bytes is little more than copying them. */
export class EnvelopeEncoding {
  private readonly head: Buffer;

  constructor({ apiVersion, kind }: TypeMeta) {
    const writer = new WireWriter();
    writer.raw(MAGIC);
    writer.varint(FIRST);
    const at = writer.begin();
    writer.varint(FIRST);
    writer.string(apiVersion);
    writer.varint(SECOND);
    writer.string(kind);
    writer.end(at);
    writer.varint(SECOND);
    this.head = writer.finish();
  }

  /** An envelope around a message. */
  of(message: Buffer): Buffer {
    const bytes = Buffer.allocUnsafe(this.sizeOf(message.length));
    this.writeTo(bytes, 0, message);
    return bytes;
  }

  /** An envelope around the concatenation of `parts`. */
  wrap(parts: readonly Uint8Array[]): Buffer {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    return Buffer.concat([this.head, lengthBytes(length), ...parts, TRAILER]);
  }

  /** The bytes before a message, or its parts, with this total length. */
  headOf(length: number): Buffer {
    return Buffer.concat([this.head, lengthBytes(length)]);
  }

  /** How long an envelope around a message of this length is. */
  sizeOf(length: number): number {
    return this.head.length + varintSize(length) + length + TRAILER.length;
  }

  /** Writes the envelope around a message; returns where it ends. */
  writeTo(target: Buffer, offset: number, message: Buffer): number {
    let at = offset + this.head.copy(target, offset);
    at = writeVarint(target, message.length, at);
    at += message.copy(target, at);
    return at + TRAILER.copy(target, at);
  }
}

/** A list in its envelope, written piece by piece: the head, each item, the tail. Items are messages that are encoded already. */
export class ListEncoding {
  readonly #envelope: EnvelopeEncoding;
  readonly #metadata: Buffer;
  readonly tail: Buffer = TRAILER;

  constructor(type: TypeMeta, metadata: Uint8Array) {
    this.#envelope = new EnvelopeEncoding(type);
    this.#metadata = Buffer.concat([delimited(FIRST, metadata.length), metadata]);
  }

  /** The length of an encoded list item. */
  itemSize(length: number): number {
    return 1 + varintSize(length) + length;
  }

  /** The bytes before list items with the total length `itemBytes`. */
  headOf(itemBytes: number): Buffer {
    return Buffer.concat([this.#envelope.headOf(this.#metadata.length + itemBytes), this.#metadata]);
  }

  /** Returns where the item ends. */
  writeItem(target: Buffer, offset: number, message: Buffer): number {
    target[offset] = SECOND;
    const at = writeVarint(target, message.length, offset + 1);
    return at + message.copy(target, at);
  }
}

// Upstream writes empty content encoding and type, and some readers require them.
const TRAILER = Buffer.from([THIRD, 0, FOURTH, 0]);

function lengthBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(varintSize(length));
  writeVarint(bytes, length, 0);
  return bytes;
}

function delimited(tag: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(1 + varintSize(length));
  bytes[0] = tag;
  writeVarint(bytes, length, 1);
  return bytes;
}

export function writeVarint(bytes: Buffer, value: number, offset: number): number {
  let at = offset;
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 0x80;
  bytes[at] = rest;
  return at + 1;
}

/** Opens an envelope. Throws ProtobufError. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (!isEnvelope(bytes)) throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  const reader = new WireReader(bytes.subarray(MAGIC.length));
  let type: TypeMeta = { apiVersion: '', kind: '' };
  let message: Buffer = Buffer.alloc(0);
  while (reader.position < reader.length) {
    const tag = reader.varint();
    if (tag === FIRST) type = decodeTypeMeta(reader.slice());
    else if (tag === SECOND) message = reader.slice();
    else if (tag === THIRD) rejectContentEncoding(reader.string());
    else skip(reader, tag);
  }
  return { ...type, message };
}

function decodeTypeMeta(bytes: Buffer): TypeMeta {
  const reader = new WireReader(bytes);
  let apiVersion = '';
  let kind = '';
  while (reader.position < reader.length) {
    const tag = reader.varint();
    if (tag === FIRST) apiVersion = reader.string();
    else if (tag === SECOND) kind = reader.string();
    else skip(reader, tag);
  }
  return { apiVersion, kind };
}

function rejectContentEncoding(contentEncoding: string): void {
  if (contentEncoding !== '') throw new ProtobufError(`content encoding ${JSON.stringify(contentEncoding)} is not supported`);
}

function skip(reader: WireReader, tag: number): void {
  if (tag >>> 3 === 0) throw new ProtobufError(`proto: Unknown: illegal tag 0 (wire type ${tag})`);
  reader.skip(tag & 7);
}
