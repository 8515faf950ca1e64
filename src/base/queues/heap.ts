/** Negative if `a` precedes `b`. */
export type Compare<T> = (a: T, b: T) => number;

/** Called with each item's index, for wrappers. -1: removed from the heap. */
export type OnMove<T> = (item: T, index: number) => void;

/** A binary min-heap by `compare`. The order of ties is undefined. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: Compare<T>;
  readonly #onMove: OnMove<T> | undefined;

  constructor(compare: Compare<T>, onMove?: OnMove<T>) {
    this.#compare = compare;
    this.#onMove = onMove;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#siftUp(this.#items.length - 1);
  }

  pop(): T | undefined {
    return this.removeAt(0);
  }

  /** Replaces the item at `index` and restores the order. */
  replaceAt(index: number, item: T): void {
    if (index < 0 || index >= this.#items.length) throw new RangeError(`no item at ${index}`);
    this.#items[index] = item;
    this.#siftDown(this.#siftUp(index));
  }

  removeAt(index: number): T | undefined {
    const removed = this.#items[index];
    if (index < 0 || index >= this.#items.length) return undefined;
    const last = this.#items.pop() as T;
    if (index < this.#items.length) this.replaceAt(index, last);
    this.#onMove?.(removed as T, -1);
    return removed;
  }

  /** The items, unordered. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.values();
  }

  #place(item: T, index: number): void {
    this.#items[index] = item;
    this.#onMove?.(item, index);
  }

  #siftUp(start: number): number {
    const item = this.#items[start] as T;
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#items[parent] as T;
      if (this.#compare(item, above) >= 0) break;
      this.#place(above, index);
      index = parent;
    }
    this.#place(item, index);
    return index;
  }

  #siftDown(start: number): void {
    const item = this.#items[start] as T;
    let index = start;
    for (;;) {
      const child = this.#lesserChild(index);
      if (child === -1 || this.#compare(this.#items[child] as T, item) >= 0) break;
      this.#place(this.#items[child] as T, index);
      index = child;
    }
    this.#place(item, index);
  }

  #lesserChild(index: number): number {
    const left = 2 * index + 1;
    if (left >= this.#items.length) return -1;
    const right = left + 1;
    if (right >= this.#items.length) return left;
    return this.#compare(this.#items[right] as T, this.#items[left] as T) < 0 ? right : left;
  }
}
