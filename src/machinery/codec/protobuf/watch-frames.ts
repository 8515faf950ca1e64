import { EnvelopeEncoding, type TypeMeta, writeVarint } from './envelope.ts';
import { ProtobufError } from './protobuf-error.ts';
import { tagOf, WireType } from './wire.ts';
import { WireReader } from './wire-reader.ts';
import { varintSize, WireWriter } from './wire-writer.ts';

export interface WatchFrame {
  /** ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. */
  readonly type: string;
  /** The object, in its envelope. A view into the bytes it came from. */
  readonly object: Buffer;
}

const FIRST = tagOf(1, WireType.bytes);
const SECOND = tagOf(2, WireType.bytes);
const LENGTH_BYTES = 4;
/** A longer frame is invalid. */
const MAX_FRAME = 64 * 1024 * 1024;

/** One event of a protobuf watch stream: a four-byte length and a WatchEvent, whose object is an envelope already encoded. */
export function encodeWatchFrame(type: string, envelope: Uint8Array): Buffer {
  const writer = new WireWriter();
  writer.raw(NO_LENGTH);
  writer.varint(FIRST);
  writer.string(type);
  writer.varint(SECOND);
  const object = writer.begin();
  writer.varint(FIRST);
  const raw = writer.begin();
  writer.raw(envelope);
  writer.end(raw);
  writer.end(object);
  const frame = writer.finish();
  frame.writeUInt32BE(frame.length - LENGTH_BYTES, 0);
  return frame;
}

const NO_LENGTH = Buffer.alloc(LENGTH_BYTES);

/** The frames of one kind of object and one type of event, made of messages that are encoded already: little more than copying. */
export class WatchFrameEncoding {
  readonly #envelope: EnvelopeEncoding;
  /** The event's type, and the tag of its object. */
  readonly #head: Buffer;

  constructor(type: string, kind: TypeMeta) {
    this.#envelope = new EnvelopeEncoding(kind);
    const writer = new WireWriter();
    writer.varint(FIRST);
    writer.string(type);
    writer.varint(SECOND);
    this.#head = writer.finish();
  }

  sizeOf(length: number): number {
    const raw = this.#rawSize(this.#envelope.sizeOf(length));
    return LENGTH_BYTES + this.#head.length + varintSize(raw) + raw;
  }

  /** Returns where the frame ends. */
  writeTo(target: Buffer, offset: number, message: Buffer): number {
    const envelope = this.#envelope.sizeOf(message.length);
    const raw = this.#rawSize(envelope);
    let at = target.writeUInt32BE(this.#head.length + varintSize(raw) + raw, offset);
    at += this.#head.copy(target, at);
    at = writeVarint(target, raw, at);
    target[at++] = FIRST;
    at = writeVarint(target, envelope, at);
    return this.#envelope.writeTo(target, at, message);
  }

  /** The object as a RawExtension. */
  #rawSize(envelope: number): number {
    return 1 + varintSize(envelope) + envelope;
  }
}

/** Cuts a stream of bytes, as it arrives, into the events it carries. */
export class WatchFrameReader {
  private chunks: Buffer[] = [];
  private buffered = 0;

  /** The events that are complete with this chunk. Throws ProtobufError when the bytes are not a watch stream. */
  push(chunk: Uint8Array): WatchFrame[] {
    this.chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.buffered += chunk.byteLength;
    const frames: WatchFrame[] = [];
    for (let length = this.frameLength(); length !== undefined; length = this.frameLength()) {
      frames.push(decodeWatchEvent(this.take(LENGTH_BYTES + length).subarray(LENGTH_BYTES)));
    }
    return frames;
  }

  /** The length of the first frame, if all of it is here. */
  private frameLength(): number | undefined {
    if (this.buffered < LENGTH_BYTES) return undefined;
    const head = this.front(LENGTH_BYTES);
    const length = head.readUInt32BE(0);
    if (length > MAX_FRAME) throw new ProtobufError(`a watch frame of ${length} bytes is too large`);
    return this.buffered >= LENGTH_BYTES + length ? length : undefined;
  }

  private front(count: number): Buffer {
    const first = this.chunks[0] as Buffer;
    if (first.length >= count) return first;
    const joined = Buffer.concat(this.chunks);
    this.chunks = [joined];
    return joined;
  }

  private take(count: number): Buffer {
    const complete = this.front(count);
    this.chunks[0] = complete.subarray(count);
    if (this.chunks[0].length === 0) this.chunks.shift();
    this.buffered -= count;
    return complete.subarray(0, count);
  }
}

function decodeWatchEvent(bytes: Buffer): WatchFrame {
  const reader = new WireReader(bytes);
  let type = '';
  let object: Buffer = Buffer.alloc(0);
  while (reader.position < reader.length) {
    const tag = reader.varint();
    if (tag === FIRST) type = reader.string();
    else if (tag === SECOND) object = rawOf(reader.slice());
    else reader.skip(tag & 7);
  }
  return { type, object };
}

function rawOf(extension: Buffer): Buffer {
  const reader = new WireReader(extension);
  let raw: Buffer = Buffer.alloc(0);
  while (reader.position < reader.length) {
    const tag = reader.varint();
    if (tag === FIRST) raw = reader.slice();
    else reader.skip(tag & 7);
  }
  return raw;
}
