import { meta } from '#api';
import { encodeProtobuf, type JsonObject, ListEncoding } from '#machinery';
import type { ListResponse } from '../handlers/api-response.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import { FixedBuffer } from './fixed-buffer.ts';
import type { ProtobufMessages } from './protobuf-messages.ts';

/** Messages encoded per event loop turn. */
const SLICE = 256;

/**
 * A protobuf list, joined from its items' messages while it is sent. Its length comes first, so every message is encoded once before;
 * messages that the cache evicts meanwhile are encoded again.
 */
export class ProtobufListBody {
  readonly #list: ListResponse;
  readonly #encoding: ListEncoding;
  readonly #messages: ProtobufMessages;
  #itemBytes = 0;
  #measured = 0;

  constructor(list: ListResponse, metadata: Record<string, unknown>, messages: ProtobufMessages) {
    const { listKind, apiVersion } = list.resource;
    this.#list = list;
    this.#encoding = new ListEncoding({ kind: listKind, apiVersion }, encodeProtobuf(meta.ListMeta, metadata as JsonObject));
    this.#messages = messages;
    this.#measureSlice();
  }

  /** Resolves when the length is known; undefined if it is. */
  measure(): Promise<void> | undefined {
    return this.#measured < this.#list.items.length ? this.#measureAll() : undefined;
  }

  async #measureAll(): Promise<void> {
    while (this.#measured < this.#list.items.length) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#measureSlice();
    }
  }

  #measureSlice(): void {
    const { items } = this.#list;
    for (const end = Math.min(items.length, this.#measured + SLICE); this.#measured < end; this.#measured++)
      this.#itemBytes += this.#encoding.itemSize(this.#message(items[this.#measured]!).length);
  }

  #message(item: VersionedObject): Buffer {
    return this.#messages.of(item, this.#list.resource.schema);
  }

  get length(): number {
    return this.#encoding.headOf(this.#itemBytes).length + this.#itemBytes + this.#encoding.tail.length;
  }

  whole(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length);
    this.chunks(bytes).next();
    return bytes;
  }

  /** The bytes in order, always in `buffer`: a chunk must be sent before the next one is requested. */
  *chunks(buffer: Buffer): Generator<Buffer> {
    const fill = new FixedBuffer(buffer);
    yield* fill.add(this.#encoding.headOf(this.#itemBytes));
    for (const item of this.#list.items) {
      const message = this.#message(item);
      const length = this.#encoding.itemSize(message.length);
      if (length <= fill.room) fill.used = this.#encoding.writeItem(buffer, fill.used, message);
      else {
        const alone = Buffer.allocUnsafe(length);
        this.#encoding.writeItem(alone, 0, message);
        yield* fill.add(alone);
      }
    }
    yield* fill.add(this.#encoding.tail);
    if (fill.used > 0) yield buffer.subarray(0, fill.used);
  }
}
