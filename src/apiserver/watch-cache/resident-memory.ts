import { getHeapStatistics } from 'node:v8';
import type { CachedObject } from './cached-object.ts';

export interface ResidentMemoryOptions {
  /** The budget in stored bytes; decoded objects take several times as much. Default: an eighth of the heap. */
  readonly budgetBytes?: number;
}

/** A cache with objects that can be shed. */
export interface ShedSource {
  objectsInMemory(): Iterable<CachedObject>;
}

/** A cache that keeps past states, which it can do without. */
export interface HistorySource {
  dropHistory(): void;
}

/** Large objects are shed as soon as they are replaced or deleted, or beyond a share of the budget. */
const LARGE_BYTES = 16 * 1024;
const LARGE_SHARE = 0.25;
/** Shorter objects save nothing when shed in place. */
const LEAST_BYTES = 2048;
/** Shorter objects save nothing when shed before use. */
const LEAST_UNSEEN_BYTES = 512;
/** The share of the heap above which objects are shed regardless of the budget. */
const HEAP_SHARE = 0.6;
/** The heap is checked each time objects of this many bytes were added. */
const LOOK_BYTES = 4 * 1024 * 1024;
/** The number of objects processed per event loop turn. */
const SLICE = 5_000;
const SIZES = 32;

/** Keeps the objects of all caches within a memory budget. Beyond it the largest are shed: their fields are read from the store on access. */
export class ResidentMemory {
  readonly #budgetBytes: number;
  readonly #sources = new Set<ShedSource>();
  readonly #histories = new Set<HistorySource>();
  #bytes = 0;
  #objects = 0;
  #sinceLook = 0;
  /** Objects of at least this length are shed. */
  #limit = Number.POSITIVE_INFINITY;
  /** New objects of at least this length are shed before use; lower than the other limit, since that saves more. */
  #unseenLimit = Number.POSITIVE_INFINITY;
  #sweeping: Promise<void> | undefined;

  constructor({ budgetBytes = getHeapStatistics().heap_size_limit / 8 }: ResidentMemoryOptions = {}) {
    this.#budgetBytes = budgetBytes;
  }

  /** The stored size of objects in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many objects are current, shed or not. */
  get objects(): number {
    return this.#objects;
  }

  add(source: ShedSource): void {
    this.#sources.add(source);
  }

  remove(source: ShedSource): void {
    this.#sources.delete(source);
    for (const object of source.objectsInMemory()) {
      this.#bytes -= object.residentBytes;
      this.#objects--;
    }
  }

  addHistory(source: HistorySource): void {
    this.#histories.add(source);
  }

  removeHistory(source: HistorySource): void {
    this.#histories.delete(source);
  }

  dropHistory(): void {
    for (const source of this.#histories) source.dropHistory();
  }

  /** The object became the current one of its key, without references yet. */
  hold(object: CachedObject): void {
    const bytes = object.residentBytes;
    this.#objects++;
    // Shed in place: the writer may hold a reference.
    if (bytes >= this.#limit || (bytes >= LARGE_BYTES && this.#bytes > this.#budgetBytes * LARGE_SHARE)) object.shed();
    else if (bytes >= this.#unseenLimit) object.shedUnseen();
    else this.#addBytes(bytes);
  }

  #addBytes(bytes: number): void {
    this.#bytes += bytes;
    this.#sinceLook += bytes;
    if (this.#bytes > this.#budgetBytes) this.#sweep(this.#budgetBytes * 0.75);
    else if (this.#sinceLook > LOOK_BYTES) this.#checkHeap();
  }

  /** The object is no longer current. */
  release(object: CachedObject): void {
    this.#bytes -= object.residentBytes;
    this.#objects--;
    this.remember(object);
  }

  /** The object is only in the history. */
  remember(object: CachedObject): void {
    if (object.residentBytes >= LARGE_BYTES) object.shed();
  }

  /** Resolves when pending work is done. */
  async settled(): Promise<void> {
    await this.#sweeping;
  }

  #checkHeap(): void {
    this.#sinceLook = 0;
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    if (used > limit * HEAP_SHARE) this.#sweep(this.#bytes / 2);
    else if (this.#bytes < this.#budgetBytes / 4) this.#limit = this.#unseenLimit = Number.POSITIVE_INFINITY;
  }

  #sweep(toBytes: number): void {
    this.#sweeping ??= this.#shedLargest(toBytes).finally(() => {
      this.#sweeping = undefined;
    });
  }

  async #shedLargest(toBytes: number): Promise<void> {
    const bySize = new Array<number>(SIZES).fill(0);
    await this.#visit((object) => {
      bySize[sizeClass(object.residentBytes)]! += object.residentBytes;
    });
    let excess = this.#bytes - toBytes;
    let size = SIZES - 1;
    for (; size > 0 && excess > 0; size--) excess -= bySize[size]!;
    this.#limit = Math.max(LEAST_BYTES, Math.min(this.#limit, 2 ** (size + 1)));
    await this.#visit((object) => {
      if (object.residentBytes < this.#limit) return;
      this.#bytes -= object.residentBytes;
      object.shed();
    });
    if (this.#bytes > toBytes) this.#unseenLimit = LEAST_UNSEEN_BYTES;
  }

  async #visit(visitor: (object: CachedObject) => void): Promise<void> {
    let seen = 0;
    for (const source of this.#sources) {
      for (const object of source.objectsInMemory()) {
        if (object.residentBytes > 0) visitor(object);
        if (++seen % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
}

/** Size class n: from 2^n to less than 2^(n+1) bytes. */
function sizeClass(bytes: number): number {
  return Math.min(SIZES - 1, 31 - Math.clz32(bytes));
}
