import type { Clock } from '../time/clock.ts';

export interface LruOptions<K, V> {
  /** How many entries it keeps. */
  capacity: number;
  /** Entries older than this count as absent. Needs `clock`. */
  ttlMs?: number;
  clock?: Clock;
  /** Called for evicted and expired entries, not for deleted or replaced ones. */
  onEvict?: (key: K, value: V) => void;
}

interface Entry<V> {
  value: V;
  /** Absent: never. A number would take memory of its own in each entry. */
  expires: number | undefined;
}

/** An LRU map. `get` and `set` count as use. */
export class Lru<K, V> {
  // A Map iterates in insertion order, so the first entry is the least recently used one.
  readonly #entries = new Map<K, Entry<V>>();
  readonly #options: LruOptions<K, V>;

  constructor(options: LruOptions<K, V>) {
    if (!(options.capacity >= 1)) throw new RangeError(`an LRU needs a capacity of at least 1, not ${options.capacity}`);
    if (options.ttlMs !== undefined && !options.clock) throw new TypeError('an LRU with ttlMs needs a clock');
    this.#options = options;
  }

  /** Includes expired entries that were not looked up since they expired. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#live(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Does not count as use. */
  has(key: K): boolean {
    return this.#live(key) !== undefined;
  }

  /** `ttlMs` overrides the option of the same name for this entry. */
  set(key: K, value: V, ttlMs: number | undefined = this.#options.ttlMs): void {
    this.#entries.delete(key);
    const expires = ttlMs === undefined ? undefined : this.#now() + ttlMs;
    this.#entries.set(key, { value, expires });
    if (this.#entries.size > this.#options.capacity) this.#evictOldest();
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** The keys, least recently used first. */
  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }

  #live(key: K): Entry<V> | undefined {
    const entry = this.#entries.get(key);
    if (entry?.expires === undefined || this.#now() < entry.expires) return entry;
    this.#entries.delete(key);
    this.#options.onEvict?.(key, entry.value);
    return undefined;
  }

  #now(): number {
    if (!this.#options.clock) throw new TypeError('an LRU entry with a ttl needs a clock');
    return this.#options.clock.monotonic();
  }

  #evictOldest(): void {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key);
      this.#options.onEvict?.(key, entry.value);
      return;
    }
  }
}
