import type { Clock, Logger, MetricsRegistry } from '#base';
import { StatusError } from '#machinery';
import type { Store, StoreStatus } from '#store';

/** etcd's default. */
export const DEFAULT_QUOTA_BYTES = 2 * 1024 ** 3;
/** etcd's error at its quota, as upstream's API server returns it. */
const EXCEEDED = 'etcdserver: mvcc: database space exceeded';
/** The store is measured again after this many written bytes, or this share of the remaining quota. */
const MEASURE_BYTES = 16 * 1024 * 1024;
const MEASURE_SHARE = 0.25;
/** The size is measured at most this often while the quota is exceeded. */
const MEASURE_MS = 1_000;
/** History is compacted this often while the quota is exceeded. */
const COMPACT_MS = 10_000;
/** Extra quota for writes that finish deletions. */
const REMOVAL_SHARE = 0.1;

export interface StoreQuotaOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Default: 2 GiB. */
  readonly quotaBytes?: number | undefined;
}

/**
 * Limits the size of the store. Above it reads, deletes and updates that finish a deletion continue; other writes fail and the server is
 * not ready until enough is deleted.
 */
export class StoreQuota {
  readonly #options: StoreQuotaOptions;
  readonly #quotaBytes: number;
  #usedBytes = 0;
  #writtenBytes = 0;
  #isExceeded = false;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #compactedAt = Number.NEGATIVE_INFINITY;
  #measuring: Promise<void> | undefined;

  constructor(options: StoreQuotaOptions) {
    this.#options = options;
    this.#quotaBytes = options.quotaBytes || DEFAULT_QUOTA_BYTES;
    const { metrics } = options;
    metrics
      .gauge({ name: 'apiserver_storage_quota_bytes', help: 'How much the store may hold.', labels: [] })
      .with({})
      .set(this.#quotaBytes);
  }

  /** Undefined when the write is allowed; otherwise rejects if the quota is exceeded. `isRemoval`: the write finishes a deletion. */
  check(isRemoval: boolean): Promise<void> | undefined {
    return this.#usedBytes + this.#writtenBytes < this.#quotaBytes ? undefined : this.#checkNow(isRemoval);
  }

  /** Counts written bytes. */
  wrote(bytes: number): void {
    this.#writtenBytes += bytes;
    const atMost = Math.max(MEASURE_BYTES, (this.#quotaBytes - this.#usedBytes) * MEASURE_SHARE);
    if (this.#writtenBytes >= atMost) void this.#measure().catch(() => {});
  }

  /** Measures the store. In-memory stores start empty, or as a copy of one within its quota. */
  async start(): Promise<void> {
    if (this.#options.store.engine !== 'memory') await this.#measure();
  }

  /** Whether writes are possible. */
  async isHealthy(): Promise<boolean> {
    if (this.#isExceeded) await this.#measureIfDue();
    return !this.#isExceeded;
  }

  async #checkNow(isRemoval: boolean): Promise<void> {
    await this.#measureIfDue();
    const allowed = this.#quotaBytes * (isRemoval ? 1 + REMOVAL_SHARE : 1);
    if (this.#usedBytes + this.#writtenBytes >= allowed) throw new StatusError({ code: 500, reason: '', message: EXCEEDED });
  }

  #measureIfDue(): Promise<void> | undefined {
    const isDue = !this.#isExceeded || this.#options.clock.monotonic() - this.#measuredAt >= MEASURE_MS;
    return isDue ? this.#measure() : undefined;
  }

  #measure(): Promise<void> {
    this.#measuring ??= this.#measureOnce().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  async #measureOnce(): Promise<void> {
    const { store, clock, logger } = this.#options;
    const status = await store.status();
    this.#usedBytes = status.usedBytes;
    this.#writtenBytes = 0;
    this.#measuredAt = clock.monotonic();
    const wasExceeded = this.#isExceeded;
    this.#isExceeded = status.usedBytes >= this.#quotaBytes;
    const fields = { usedBytes: status.usedBytes, quotaBytes: this.#quotaBytes };
    if (this.#isExceeded && !wasExceeded) logger.error('the database is full: writes fail until objects are deleted', fields);
    if (wasExceeded && !this.#isExceeded) logger.info('the database has room again', fields);
    if (this.#isExceeded) this.#compactHistory(status);
  }

  #compactHistory({ revision, compactRevision }: StoreStatus): void {
    const { store, clock, logger } = this.#options;
    // Shared stores are compacted by other means.
    if (!store.localReads || revision <= compactRevision || clock.monotonic() - this.#compactedAt < COMPACT_MS) return;
    this.#compactedAt = clock.monotonic();
    store.compact(revision).catch((error: unknown) => logger.warn('could not compact a full database', { error }));
  }
}
