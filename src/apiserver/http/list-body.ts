import { encodeJson } from '#machinery';
import type { ListResponse } from '../request/api-response.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';

const COMMA = 0x2c;
const BRACE = 0x7b;
const END = Buffer.from(']}\n');

/**
 * A list as JSON, joined from the items' stored bytes only as it leaves: however long it is and however many clients read it at once, each costs
 * one chunk of memory. Items of built-in kinds stand without their kind and apiVersion, which the list's own imply.
 */
export class ListBody {
  readonly length: number;
  readonly #head: Buffer;
  readonly #items: ListResponse['items'];
  /** Bytes to leave out at the start of each item, whose brace is then written anew. */
  readonly #skip: number;

  constructor({ resource, items }: ListResponse, metadata: Record<string, unknown>) {
    const { listKind, kind, apiVersion } = resource;
    this.#head = Buffer.from(`${introOf(listKind, apiVersion)}"metadata":${encodeJson(metadata)},"items":[`);
    this.#items = items;
    this.#skip = resource.itemsNameKind ? 0 : Buffer.byteLength(introOf(kind, apiVersion));
    let length = this.#head.length + END.length + Math.max(0, items.length - 1);
    for (const item of items) length += this.#lengthOf(item);
    this.length = length;
  }

  /** Without the comma before it. */
  #lengthOf(item: VersionedObject): number {
    return item.jsonLength - (this.#skip > 0 ? this.#skip - 1 : 0);
  }

  whole(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length);
    this.chunks(bytes).next();
    return bytes;
  }

  /** The bytes in order, each time in `buffer`, which must have been sent before the next chunk is asked for. */
  *chunks(buffer: Buffer): Generator<Buffer> {
    const fill = new Fill(buffer);
    yield* fill.add(this.#head);
    let isFirst = true;
    for (const item of this.#items) {
      const length = this.#lengthOf(item) + (isFirst ? 0 : 1);
      if (length <= fill.room) fill.used = this.#write(item, isFirst, { to: buffer, at: fill.used });
      else {
        const alone = Buffer.allocUnsafe(length);
        this.#write(item, isFirst, { to: alone, at: 0 });
        yield* fill.add(alone);
      }
      isFirst = false;
    }
    yield* fill.add(END);
    if (fill.used > 0) yield buffer.subarray(0, fill.used);
  }

  /** Returns where the item ends. */
  #write(item: VersionedObject, isFirst: boolean, { to, at }: { to: Buffer; at: number }): number {
    const { bytes, gap, text } = item.jsonParts();
    let end = at;
    if (!isFirst) to[end++] = COMMA;
    if (this.#skip > 0) to[end++] = BRACE;
    end += bytes.copy(to, end, this.#skip, gap);
    end += to.write(text, end, 'latin1');
    return end + bytes.copy(to, end, gap);
  }
}

/** A buffer that is filled again and again. */
class Fill {
  used = 0;

  constructor(private readonly buffer: Buffer) {}

  get room(): number {
    return this.buffer.length - this.used;
  }

  /** Yields the buffer each time that it is full. */
  *add(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(this.buffer, this.used, at);
      at += copied;
      this.used += copied;
      if (this.room > 0) continue;
      yield this.buffer;
      this.used = 0;
    }
  }
}

function introOf(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}
