import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transaction } from 'lmdb';
import { AsyncMutex, type Clock, childSignal, type Logger, minOf, pushAll, realClock, silentLogger } from '#base';
import { DEFAULT_HISTORY_WINDOW_MS, HistoryWindow } from '../history-window.ts';
import { checkCompact, checkKey, checkLeaseId, checkRange, checkTtl, checkTxn, MAX_OPERATIONS } from '../limits.ts';
import { syncDirectory } from '../new-file.ts';
import type {
  CompactResult,
  Entry,
  GetResult,
  Lease,
  LeaseId,
  RangeRequest,
  RangeResult,
  SnapshotInfo,
  Store,
  StoreStatus,
  TxnRequest,
  TxnResult,
  WatchHandle,
  WatchOptions,
  WatchSink,
} from '../store.ts';
import { futureRevision, StoreError } from '../store-error.ts';
import { TtlLeases } from '../ttl-leases.ts';
import { WakeUp } from '../wake-up.ts';
import { WatchHub } from '../watch-hub.ts';
import type { Batch } from './batch.ts';
import { FORMAT, makeDirectory, prepareDirectory } from './directory.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { GroupCommit } from './group-commit.ts';
import { commitError, lmdbError } from './lmdb-error.ts';
import { migrate } from './migrations.ts';
import { readHeads } from './page-check.ts';
import { leaseId, Reader, toPage } from './reader.ts';
import { decodeLease, type LeaseRecord, type Location, RecordBuffer, type StateRecord } from './records.ts';
import { Scrubber } from './scrubber.ts';
import { type SnapshotSource, writeSnapshot } from './snapshot-file.ts';
import { makeTables, openChecked, readState, usedBytesOf } from './store-files.ts';
import { DATA_FILE, openTables, type Tables } from './tables.ts';

export interface EmbeddedStoreOptions {
  /** Created if it does not exist. Locked by one process at a time. */
  readonly directory: string;
  /** Default: the real one. */
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** How much history is kept, in milliseconds; Infinity keeps all. Default: five minutes. */
  readonly historyWindowMs?: number;
  /** Check every page of the data file before use: takes seconds per gigabyte. Default: only its meta pages and size. */
  readonly verify?: boolean;
}

/** A store in a directory, on LMDB: the default of a cluster on one machine. */
export interface EmbeddedStore extends Store {
  readonly engine: 'embedded';
}

export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { directory } = options;
  await makeDirectory(directory);
  const lock = await lockDirectory(directory);
  try {
    const prepared = await prepareDirectory(directory, { thorough: options.verify === true, purpose: 'making' });
    const tables = openChecked(directory);
    try {
      if (prepared === 'new') await makeTables(tables, directory);
      else migrate(tables);
      return new LmdbStore(options, tables, lock);
    } catch (error) {
      await tables.root.close();
      throw error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Keys that a range reads before it yields. */
const RANGE_BUDGET = 2_000;

// One file: one method for each operation of the Store contract; commits, reads, leases on disk and snapshots have files of their own.
class LmdbStore implements EmbeddedStore {
  readonly engine = 'embedded';
  readonly localReads = true;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lock: DirectoryLock;
  readonly #buffer = new RecordBuffer();
  readonly #ttlLeases = new TtlLeases();
  readonly #leases = new Map<number, LeaseRecord>();
  readonly #commits: GroupCommit;
  readonly #hub: WatchHub<Location>;
  readonly #scrubber: Scrubber;
  readonly #window: HistoryWindow;
  readonly #expiry: WakeUp;
  readonly #readsAt = new Map<number, number>();
  readonly #maintenance = new AsyncMutex();
  readonly #stopped = new AbortController();
  #tables: Tables;
  #reader: Reader;
  #state: StateRecord;
  /** Set while the data file is being replaced. */
  #replacing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: EmbeddedStoreOptions, tables: Tables, lock: DirectoryLock) {
    this.#directory = options.directory;
    this.#clock = options.clock ?? realClock;
    this.#logger = options.logger ?? silentLogger;
    this.#lock = lock;
    this.#tables = tables;
    this.#reader = new Reader(tables);
    this.#state = readState(tables);
    for (const { key, value } of tables.leases.getRange({ start: 0 })) this.#leases.set(key, decodeLease(key, value));
    this.#commits = this.#makeCommits();
    this.#hub = this.#makeHub();
    this.#scrubber = new Scrubber({
      commits: this.#commits,
      logger: this.#logger,
      state: () => this.#state,
      oldestRead: () => minOf(this.#readsAt.keys(), Number.POSITIVE_INFINITY),
    });
    this.#window = new HistoryWindow({
      clock: this.#clock,
      windowMs: options.historyWindowMs ?? DEFAULT_HISTORY_WINDOW_MS,
      revision: () => this.#state.revision,
      compact: (revision) => this.#compactInBackground(revision),
    });
    this.#expiry = new WakeUp(this.#clock, () => this.#expire());
    for (const { expiresAt } of this.#leases.values()) this.#expiry.notAfter(expiresAt);
    this.#scrubber.wake();
  }

  #makeCommits(): GroupCommit {
    return new GroupCommit({
      base: () => ({
        tables: this.#tables,
        reader: this.#reader,
        buffer: this.#buffer,
        state: this.#state,
        leases: this.#leases,
        ttlLeases: this.#ttlLeases,
        now: () => this.#clock.now(),
      }),
      onCommit: (batch) => this.#publish(batch),
      onFailure: (batch, cause) => this.#discard(batch, cause),
      onFault: (error) => this.#logger.error('a commit could not be published to all watches', { error }),
    });
  }

  #makeHub(): WatchHub<Location> {
    return new WatchHub({
      clock: this.#clock,
      revision: () => this.#state.revision,
      compactRevision: () => this.#state.compactRevision,
      history: (revision, atMost) =>
        this.#replacing === undefined
          ? this.#reader.history(revision, this.#state.revision, atMost)
          : { changes: [], throughRevision: revision - 1 },
      readPrevious: (location) => this.#reader.value(location),
    });
  }

  async revision(signal?: AbortSignal): Promise<number> {
    this.#check(signal);
    return this.#state.revision;
  }

  async get(key: string, signal?: AbortSignal): Promise<GetResult> {
    this.#check(signal);
    checkKey(key);
    if (this.#replacing !== undefined) await this.#replacing;
    const { revision } = this.#state;
    return { entry: this.#reader.entry(key, revision), revision };
  }

  valueAt(key: string, modRevision: number): Uint8Array | undefined {
    this.#check(undefined);
    if (this.#replacing !== undefined) throw new StoreError('unavailable', 'the data file is being replaced');
    return this.#reader.valueAt(key, modRevision);
  }

  async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResult> {
    this.#check(signal);
    checkRange(request);
    if (this.#replacing !== undefined) await this.#replacing;
    const { revision: current, compactRevision } = this.#state;
    const { revision = current } = request;
    if (revision > current) throw futureRevision(revision, current);
    if (revision < compactRevision) return { status: 'compacted', compactRevision };
    const first = this.#reader.range(request, revision, RANGE_BUDGET);
    if (first.next === undefined) return toPage(request, first, revision);
    return this.#readAt(revision, () => this.#rangeOn(request, first, { revision, signal }));
  }

  /** A long range continues in later turns, at the same revision: the scrubber keeps what it needs. */
  async #rangeOn(
    request: RangeRequest,
    first: { readonly entries: readonly Entry[]; readonly count: number; readonly next: string | undefined },
    { revision, signal }: { readonly revision: number; readonly signal: AbortSignal | undefined },
  ): Promise<RangeResult> {
    const entries = [...first.entries];
    let { count, next } = first;
    while (next !== undefined) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#check(signal);
      if (this.#replacing !== undefined) await this.#replacing;
      // The limit applies to the whole range; one more key shows that there are more.
      const limit = request.limit === undefined ? {} : { limit: Math.max(1, request.limit - entries.length) };
      if (request.limit !== undefined && entries.length === request.limit && request.withCount !== true && count > entries.length) break;
      const chunk = this.#reader.range({ ...request, ...limit, start: next }, revision, RANGE_BUDGET);
      count += chunk.count;
      if (request.limit === undefined || entries.length < request.limit) pushAll(entries, chunk.entries);
      next = chunk.next;
    }
    return toPage(request, { entries, count }, revision);
  }

  async #readAt<T>(revision: number, read: () => Promise<T>): Promise<T> {
    this.#readsAt.set(revision, (this.#readsAt.get(revision) ?? 0) + 1);
    try {
      return await read();
    } finally {
      const left = this.#readsAt.get(revision)! - 1;
      if (left > 0) this.#readsAt.set(revision, left);
      else this.#readsAt.delete(revision);
      this.#scrubber.wake();
    }
  }

  txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResult> {
    try {
      this.#check(signal);
      checkTxn(request, true);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#commits.run((batch) => batch.txn(request), signal);
  }

  watch(options: WatchOptions, sink: WatchSink): WatchHandle {
    this.#check(undefined);
    return this.#hub.watch(options, sink);
  }

  async grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<Lease> {
    this.#check(signal);
    checkTtl(ttlSeconds);
    const { id } = await this.#commits.run((batch) => batch.grant(ttlSeconds), signal);
    return { id: leaseId(id)!, ttlSeconds };
  }

  async renewLease(id: LeaseId, signal?: AbortSignal): Promise<Lease | undefined> {
    this.#check(signal);
    checkLeaseId(id);
    const lease = await this.#commits.run((batch) => batch.renew(Number.parseInt(id, 16)), signal);
    return lease && { id, ttlSeconds: lease.ttlSeconds };
  }

  async revokeLease(id: LeaseId, signal?: AbortSignal): Promise<boolean> {
    this.#check(signal);
    checkLeaseId(id);
    return this.#commits.run((batch) => batch.revoke(Number.parseInt(id, 16), MAX_OPERATIONS), signal);
  }

  async compact(revision: number, signal?: AbortSignal): Promise<CompactResult> {
    this.#check(signal);
    checkCompact(revision);
    const result = await this.#commits.run((batch): CompactResult => {
      const { revision: current, compactRevision } = batch.state;
      if (revision > current) throw futureRevision(revision, current);
      if (revision <= compactRevision) return { status: 'compacted', compactRevision };
      batch.compact(revision);
      return { status: 'ok' };
    }, signal);
    this.#scrubber.wake();
    return result;
  }

  snapshot(file: string, signal?: AbortSignal): Promise<SnapshotInfo> {
    return this.#maintain(signal, async (stop) => {
      await this.#commits.hold();
      const { source, reader } = this.#freeze();
      this.#commits.release();
      try {
        return await writeSnapshot(file, source, { signal: stop, pause: () => this.#commits.turn() });
      } finally {
        reader.done();
      }
    });
  }

  /** The present state, and a reader that keeps its pages. Call it while no commit is under way. */
  #freeze(): { readonly source: SnapshotSource; readonly reader: Transaction } {
    try {
      const reader = this.#tables.root.useReadTransaction();
      return { source: { ...readHeads(join(this.#directory, DATA_FILE)), revision: this.#state.revision }, reader };
    } catch (cause) {
      this.#commits.release();
      throw lmdbError(cause, 'can not begin a snapshot');
    }
  }

  /** Finishes what compaction has left to do, then copies what is in use to a new file that takes the place of the old one. */
  defragment(signal?: AbortSignal): Promise<void> {
    return this.#maintain(signal, async (stop) => {
      await this.#scrubber.finish();
      await this.#commits.hold();
      try {
        stop.throwIfAborted();
        const copy = join(this.#directory, `${DATA_FILE}.partial`);
        await rm(copy, { force: true });
        await this.#tables.root.backup(copy, true);
        this.#replacing = this.#replaceData(copy);
        await this.#replacing;
      } finally {
        this.#replacing = undefined;
        this.#commits.release();
      }
    });
  }

  /** One at a time; given up when the store is closed. */
  async #maintain<T>(signal: AbortSignal | undefined, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
    this.#check(signal);
    using stop = childSignal(signal, this.#stopped.signal);
    return await this.#maintenance.run(async () => {
      this.#check(signal);
      try {
        return await work(stop.signal);
      } catch (cause) {
        stop.signal.throwIfAborted();
        throw cause instanceof Error && 'syscall' in cause ? lmdbError(cause, 'maintenance failed and changed nothing') : cause;
      }
    });
  }

  async #replaceData(copy: string): Promise<void> {
    await this.#tables.root.close();
    await rename(copy, join(this.#directory, DATA_FILE));
    await syncDirectory(this.#directory);
    this.#tables = openTables(this.#directory);
    this.#reader = new Reader(this.#tables);
  }

  async status(signal?: AbortSignal): Promise<StoreStatus> {
    this.#check(signal);
    if (this.#replacing !== undefined) await this.#replacing;
    const { revision, compactRevision } = this.#state;
    const { size } = await stat(join(this.#directory, DATA_FILE));
    const usedBytes = Math.min(size, usedBytesOf(this.#tables));
    const fragmentation = size === 0 ? 0 : (size - usedBytes) / size;
    return { engine: 'embedded', version: String(FORMAT), revision, compactRevision, sizeBytes: size, usedBytes, fragmentation };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopped.abort(new StoreError('closed', 'the store is closed'));
    this.#expiry.cancel();
    this.#window.stop();
    this.#hub.close();
    await this.#scrubber.stop();
    await this.#maintenance.run(async () => {});
    await this.#commits.drain();
    await this.#tables.root.close();
    await this.#lock.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #check(signal: AbortSignal | undefined): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'the store is closed');
    signal?.throwIfAborted();
  }

  #publish(batch: Batch): void {
    this.#state = batch.state;
    this.#buffer.reset();
    for (const [id, lease] of batch.leases) {
      if (lease === undefined) this.#leases.delete(id);
      else this.#leases.set(id, lease);
      if (lease !== undefined) this.#expiry.notAfter(lease.expiresAt);
    }
    if (batch.changes.length > 0) this.#hub.publish(batch.changes, batch.state.revision);
  }

  async #discard(batch: Batch, cause: unknown): Promise<StoreError> {
    const error = await commitError(cause, this.#directory);
    this.#buffer.reset();
    for (const id of batch.leases.keys()) this.#ttlLeases.forget(leaseId(id)!);
    this.#logger.error('a commit failed', { error });
    return error;
  }

  #compactInBackground(revision: number): void {
    this.compact(revision).catch((error: unknown) => {
      if (this.#closing === undefined) this.#logger.warn('could not compact', { revision, error });
    });
  }

  #expire(): void {
    const now = this.#clock.now();
    const expired = [...this.#leases.values()].filter((lease) => lease.expiresAt <= now);
    for (const { id } of expired) this.#revokeExpired(id);
    this.#scheduleExpiry();
  }

  #revokeExpired(id: number): void {
    const revoke = (batch: Batch) => {
      // It may have been renewed since.
      if ((batch.findLease(id)?.expiresAt ?? 0) <= this.#clock.now()) batch.revoke(id, MAX_OPERATIONS);
    };
    this.#commits.run(revoke).catch((error: unknown) => {
      this.#logger.warn('could not delete what has expired; trying again', { error });
      this.#expiry.notAfter(this.#clock.now() + EXPIRY_RETRY_MS);
    });
  }

  #scheduleExpiry(): void {
    const now = this.#clock.now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const { expiresAt } of this.#leases.values()) if (expiresAt > now) earliest = Math.min(earliest, expiresAt);
    this.#expiry.notAfter(earliest);
  }
}

const EXPIRY_RETRY_MS = 1_000;
