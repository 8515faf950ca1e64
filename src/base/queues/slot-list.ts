/** An item that remembers its place in a `SlotList`. */
export interface Slotted {
  slot: number;
}

/**
 * A set of items that come and go with requests, in no order. A Set would do, but V8 links each table of a Set to the larger or cleaner one that
 * replaces it: once such a table is old, all that follow survive collections of the young generation, and so do the items that were in them.
 * An item is in one list at a time.
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
