import { type Compare, Heap } from './heap.ts';

export interface KeyedHeapOptions<K, T> {
  keyOf: (item: T) => K;
  compare: Compare<T>;
}

/** A heap with at most one item per key, and O(log n) update and removal. */
export class KeyedHeap<K, T> {
  readonly #keyOf: (item: T) => K;
  readonly #heap: Heap<T>;
  readonly #indexes = new Map<K, number>();
  readonly #items = new Map<K, T>();

  constructor(options: KeyedHeapOptions<K, T>) {
    this.#keyOf = options.keyOf;
    this.#heap = new Heap(options.compare, (item, index) => this.#indexes.set(this.#keyOf(item), index));
  }

  get size(): number {
    return this.#heap.size;
  }

  has(key: K): boolean {
    return this.#items.has(key);
  }

  get(key: K): T | undefined {
    return this.#items.get(key);
  }

  peek(): T | undefined {
    return this.#heap.peek();
  }

  /** Adds the item, or replaces the one with its key. */
  set(item: T): void {
    const key = this.#keyOf(item);
    const index = this.#indexes.get(key);
    this.#items.set(key, item);
    if (index === undefined) this.#heap.push(item);
    else this.#heap.replaceAt(index, item);
  }

  pop(): T | undefined {
    const item = this.#heap.pop();
    if (item !== undefined) this.#forget(this.#keyOf(item));
    return item;
  }

  delete(key: K): boolean {
    const index = this.#indexes.get(key);
    if (index === undefined) return false;
    this.#heap.removeAt(index);
    this.#forget(key);
    return true;
  }

  /** The items, unordered. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#heap[Symbol.iterator]();
  }

  #forget(key: K): void {
    this.#indexes.delete(key);
    this.#items.delete(key);
  }
}
