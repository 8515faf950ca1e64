import { encodeJson } from '#machinery';
import type { ListResponse } from '../handlers/api-response.ts';
import type { VersionedObject } from '../watch-cache/cached-object.ts';
import { FixedBuffer } from './fixed-buffer.ts';

const COMMA = 0x2c;
const BRACE = 0x7b;
const END = Buffer.from(']}\n');

/**
 * A JSON list, joined from the stored bytes of its items while it is sent: each response needs one chunk of memory, however long the list
 * is. Items of built-in kinds omit kind and apiVersion.
 */
export class ListBody {
  readonly length: number;
  readonly #head: Buffer;
  readonly #items: ListResponse['items'];
  /** Bytes to skip at the start of each item. */
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

  /** Without the preceding comma. */
  #lengthOf(item: VersionedObject): number {
    return item.jsonLength - (this.#skip > 0 ? this.#skip - 1 : 0);
  }

  whole(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length);
    this.chunks(bytes).next();
    return bytes;
  }

  /** The bytes in order, always in `buffer`: a chunk must be sent before the next one is requested. */
  *chunks(buffer: Buffer): Generator<Buffer> {
    const fill = new FixedBuffer(buffer);
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

  /** Returns the end offset of the item. */
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

function introOf(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}
