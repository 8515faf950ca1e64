import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { Logger, MetricsRegistry } from '#base';
import { StatusError } from '#machinery';

/** The engine's heap. */
export interface Heap {
  readonly limitBytes: number;
  readonly usedBytes: number;
  /** Calls the listener with the used heap after each full garbage collection, until disposed. */
  onCollected(listener: () => void): Disposable;
}

export interface HeapQuotaOptions {
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** How many objects are cached now. */
  readonly objects: () => number;
  /** Frees what can be read again; called after each full garbage collection while the heap is not well below the limit. */
  readonly dropHistory: () => void;
  /** Default: V8's. */
  readonly heap?: Heap;
}

/** As for a full database: clients of etcd know it. */
const EXCEEDED = 'etcdserver: mvcc: database space exceeded';
/**
 * The shares of the heap beyond which creates, and then updates, are rejected. V8 collects garbage before the heap has grown half-way from
 * the last live size to its limit, so the figure is never older than that.
 */
const CREATE_SHARE = 0.7;
const UPDATE_SHARE = 0.85;
/** The alarm ends below this share, so that it does not flap. */
const CLEAR_SHARE = 0.65;

/**
 * Rejects writes before the heap is full: every object is in the watch cache, if only with its name and labels. Above the limit reads,
 * deletes and updates that finish a deletion continue; creates are rejected first, then updates.
 */
export class HeapQuota implements Disposable {
  readonly #options: HeapQuotaOptions;
  readonly #heap: Heap;
  readonly #registration: Disposable;
  #liveBytes = 0;
  #objectsThen = 0;
  #isExceeded = false;

  constructor(options: HeapQuotaOptions) {
    this.#options = options;
    this.#heap = options.heap ?? v8Heap();
    const { metrics } = options;
    const limit = { name: 'apiserver_heap_quota_bytes', help: 'How much of the heap may be in use before creations fail.', labels: [] };
    metrics
      .gauge(limit)
      .with({})
      .set(this.#heap.limitBytes * CREATE_SHARE);
    const live = metrics.gauge({
      name: 'apiserver_heap_live_bytes',
      help: 'What lived after the last full collection of garbage.',
      labels: [],
    });
    this.#registration = this.#heap.onCollected(() => {
      this.#measure();
      live.with({}).set(this.#liveBytes);
    });
  }

  /** Throws when there is no room for the write. `isRemoval`: it finishes a deletion. */
  check({ isCreation, isRemoval }: { readonly isCreation: boolean; readonly isRemoval: boolean }): void {
    if (!this.#isExceeded || isRemoval || this.isHealthy()) return;
    if (isCreation || this.#share > UPDATE_SHARE) throw new StatusError({ code: 500, reason: '', message: EXCEEDED });
  }

  /** Whether objects can be created. */
  isHealthy(): boolean {
    if (this.#isExceeded && this.#share < CLEAR_SHARE) this.#set(false);
    return !this.#isExceeded;
  }

  /** The live heap at the last collection: less if objects were deleted since. */
  get #share(): number {
    const { limitBytes } = this.#heap;
    const left = this.#objectsThen === 0 ? 1 : Math.min(1, this.#options.objects() / this.#objectsThen);
    return (this.#liveBytes * left) / limitBytes;
  }

  #measure(): void {
    this.#liveBytes = this.#heap.usedBytes;
    this.#objectsThen = this.#options.objects();
    if (this.#share >= CLEAR_SHARE) this.#options.dropHistory();
    if (this.#share >= CREATE_SHARE) this.#set(true);
    else if (this.#share < CLEAR_SHARE) this.#set(false);
  }

  #set(isExceeded: boolean): void {
    if (isExceeded === this.#isExceeded) return;
    this.#isExceeded = isExceeded;
    const { logger, objects } = this.#options;
    const fields = { liveBytes: this.#liveBytes, limitBytes: this.#heap.limitBytes, objects: objects() };
    if (isExceeded)
      logger.error('the heap is nearly full: no objects can be created until some are deleted, or the server has a larger heap', fields);
    else logger.info('the heap has room again', fields);
  }

  [Symbol.dispose](): void {
    this.#registration[Symbol.dispose]();
  }
}

/** V8's limit includes the young generation, by default three semi-spaces of 16 MiB, which contains no long-lived objects. */
const YOUNG_BYTES = 48 * 1024 * 1024;
const YOUNG_SPACES = new Set(['new_space', 'new_large_object_space']);

/** V8 clears weak cells only in full collections: a cleared cell means that there was one. */
function v8Heap(): Heap {
  return {
    limitBytes: getHeapStatistics().heap_size_limit - YOUNG_BYTES,
    get usedBytes() {
      const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !YOUNG_SPACES.has(name));
      return old.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
    },
    onCollected(listener) {
      let isActive = true;
      const collected = new FinalizationRegistry<undefined>(() => {
        if (!isActive) return;
        collected.register({}, undefined);
        listener();
      });
      collected.register({}, undefined);
      return {
        [Symbol.dispose]() {
          isActive = false;
        },
      };
    },
  };
}
