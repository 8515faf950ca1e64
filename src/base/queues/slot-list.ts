/** An item that remembers its place in a `SlotList`. */
export interface Slotted {
  slot: number;
}

/**
 * An unordered set of short-lived items such as requests. With a Set, V8 links each internal table to the one that replaces it: once such a
 * table is in the old generation, later tables and their items survive collections of the young generation. An item can only be in one list
 * at a time.
 */
export class SlotList<T extends Slotted> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.slot = this.#items.push(item) - 1;
  }

  /** Returns whether it was there. */
  delete(item: T): boolean {
    const { slot } = item;
    if (this.#items[slot] !== item) return false;
    const last = this.#items.pop()!;
    if (last === item) return true;
    this.#items[slot] = last;
    last.slot = slot;
    return true;
  }

  /** Must not be changed meanwhile. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.values();
  }
}
