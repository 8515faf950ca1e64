import { encodeJson } from '#machinery';
import type { ListResponse } from '../request/api-response.ts';

const COMMA = 0x2c;
const BRACE = 0x7b;
const END = Buffer.from(']}\n');

/**
 * A list as JSON, joined from the items' cached bytes only as it leaves: however long it is and however many clients read it at once, each costs
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
    const perItem = this.#skip > 0 ? -this.#skip : -1;
    let length = this.#head.length + END.length + Math.max(0, items.length - 1);
    for (const item of items) length += item.json().length + perItem;
    this.length = length;
  }

  whole(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length);
    const reader = this.chunks(bytes);
    reader.next();
    return bytes;
  }

  /** The bytes in order, each time in `buffer`, which must have been sent before the next chunk is asked for. */
  *chunks(buffer: Buffer): Generator<Buffer> {
    let used = 0;
    for (const { bytes, from, to } of this.#pieces()) {
      for (let at = from; at < to; ) {
        const copied = bytes.copy(buffer, used, at, to);
        at += copied;
        used += copied;
        if (used < buffer.length) continue;
        yield buffer;
        used = 0;
      }
    }
    if (used > 0) yield buffer.subarray(0, used);
  }

  *#pieces(): Generator<Piece> {
    const separator = Buffer.of(COMMA, BRACE);
    const withBrace = this.#skip > 0 ? 2 : 1;
    const piece: Piece = { bytes: this.#head, from: 0, to: this.#head.length };
    yield piece;
    let isFirst = true;
    for (const item of this.#items) {
      piece.bytes = separator;
      piece.from = isFirst ? 1 : 0;
      piece.to = withBrace;
      yield piece;
      isFirst = false;
      piece.bytes = item.json();
      piece.from = this.#skip;
      piece.to = piece.bytes.length - 1;
      yield piece;
    }
    piece.bytes = END;
    piece.from = 0;
    piece.to = END.length;
    yield piece;
  }
}

/** One is used for all pieces of a list: there are two for each item. */
interface Piece {
  bytes: Buffer;
  from: number;
  to: number;
}

function introOf(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}
