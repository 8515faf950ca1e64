import type { JsonValue } from '../json/json-value.ts';

/** Pieces are split at this length. */
const MAX_PIECE = 2048;

interface Position {
  readonly piece: number;
  readonly offset: number;
}

/** A long list in short pieces, so that inserting and removing items does not move all that follow. */
export class PiecewiseList {
  readonly #pieces: JsonValue[][] = [];
  #length: number;

  constructor(items: readonly JsonValue[]) {
    this.#length = items.length;
    for (let i = 0; i < items.length; i += MAX_PIECE / 2) this.#pieces.push(items.slice(i, i + MAX_PIECE / 2));
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): JsonValue | undefined {
    const { piece, offset } = this.#positionOf(index);
    return this.#pieces[piece]?.[offset];
  }

  set(index: number, value: JsonValue): void {
    const { piece, offset } = this.#positionOf(index);
    const items = this.#pieces[piece];
    if (items !== undefined) items[offset] = value;
  }

  insert(index: number, value: JsonValue): void {
    if (this.#pieces.length === 0) this.#pieces.push([]);
    const { piece, offset } = this.#positionOf(index);
    const items = this.#pieces[piece]!;
    items.splice(offset, 0, value);
    this.#length++;
    if (items.length > MAX_PIECE) this.#pieces.splice(piece, 1, items.slice(0, MAX_PIECE / 2), items.slice(MAX_PIECE / 2));
  }

  remove(index: number): void {
    const { piece, offset } = this.#positionOf(index);
    const items = this.#pieces[piece];
    if (items === undefined) return;
    items.splice(offset, 1);
    this.#length--;
    if (items.length === 0) this.#pieces.splice(piece, 1);
  }

  /** Makes `list` the list of these items. */
  writeTo(list: JsonValue[]): void {
    let length = 0;
    for (const piece of this.#pieces) for (const item of piece) list[length++] = item;
    list.length = length;
  }

  /** The place after the last item is the end of the last piece. */
  #positionOf(index: number): Position {
    let offset = index;
    for (const [piece, { length }] of this.#pieces.entries()) {
      if (offset < length || piece === this.#pieces.length - 1) return { piece, offset };
      offset -= length;
    }
    return { piece: 0, offset };
  }
}
