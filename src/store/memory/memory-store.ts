import type { Clock } from '#base';
import { pushAll, realClock } from '#base';
import { DEFAULT_HISTORY_WINDOW_MS, HistoryWindow } from '../history-window.ts';
import { checkCompact, checkKey, checkLeaseId, checkRange, checkTtl, checkTxn } from '../limits.ts';
import type {
  CompactResult,
  GetResult,
  Lease,
  LeaseId,
  Operation,
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
import { type HistoryChunk, WatchHub } from '../watch-hub.ts';
import { readSnapshot, writeSnapshot } from './memory-snapshot.ts';
import {
  applyTxn,
  compactState,
  emptyState,
  grantLease,
  keysAt,
  type MemoryChange,
  type MemoryState,
  renewLease,
  revokeLease,
  type Transition,
} from './memory-state.ts';
import { readRange } from './read-range.ts';

export interface MemoryStoreOptions {
  /** Default: the real one. */
  readonly clock?: Clock;
  /** How much history is kept, in milliseconds; Infinity keeps all. Default: five minutes. */
  readonly historyWindowMs?: number;
}

/** A store in memory, for tests. */
export interface MemoryStore extends Store {
  readonly engine: 'memory';
  /** An independent copy, including history and leases. Constant time: the structure is shared. */
  fork(options?: MemoryStoreOptions): MemoryStore;
}

export function openMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new PersistentMemoryStore(options, emptyState(), new TtlLeases());
}

/** Opens a store from a snapshot of a memory store. */
export async function restoreMemoryStore(file: string, options: MemoryStoreOptions = {}): Promise<MemoryStore> {
  return new PersistentMemoryStore(options, await readSnapshot(file), new TtlLeases());
}

/** The approximate overhead of an entry beyond its key and value. */
const ENTRY_BYTES = 150;

class PersistentMemoryStore implements MemoryStore {
  readonly engine = 'memory';
  readonly localReads = true;
  readonly #options: MemoryStoreOptions;
  readonly #clock: Clock;
  readonly #ttlLeases: TtlLeases;
  readonly #hub: WatchHub<MemoryChange['previous']>;
  readonly #expiry: WakeUp;
  readonly #window: HistoryWindow;
  #state: MemoryState;
  #past: { readonly revision: number; readonly keys: MemoryState['keys'] } | undefined;
  #closed = false;

  constructor(options: MemoryStoreOptions, state: MemoryState, ttlLeases: TtlLeases) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#state = state;
    this.#ttlLeases = ttlLeases;
    this.#hub = new WatchHub({
      clock: this.#clock,
      revision: () => this.#state.revision,
      compactRevision: () => this.#state.compactRevision,
      history: (revision, atMost) => this.#history(revision, atMost),
      readPrevious: (previous) => previous?.value,
    });
    this.#expiry = new WakeUp(this.#clock, () => this.#expire());
    this.#window = new HistoryWindow({
      clock: this.#clock,
      windowMs: options.historyWindowMs ?? DEFAULT_HISTORY_WINDOW_MS,
      revision: () => this.#state.revision,
      compact: (revision) => void this.#compactTo(revision),
    });
    this.#scheduleExpiry();
  }

  fork(options: MemoryStoreOptions = this.#options): MemoryStore {
    this.#check(undefined);
    return new PersistentMemoryStore(options, this.#state, new TtlLeases(this.#ttlLeases));
  }

  async revision(signal?: AbortSignal): Promise<number> {
    this.#check(signal);
    return this.#state.revision;
  }

  async get(key: string, signal?: AbortSignal): Promise<GetResult> {
    this.#check(signal);
    checkKey(key);
    return { entry: this.#state.keys.get(key), revision: this.#state.revision };
  }

  async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResult> {
    this.#check(signal);
    checkRange(request);
    const { revision = this.#state.revision } = request;
    if (revision > this.#state.revision) throw futureRevision(revision, this.#state.revision);
    if (revision < this.#state.compactRevision) return { status: 'compacted', compactRevision: this.#state.compactRevision };
    return readRange(this.#keysAt(revision), request, revision);
  }

  async txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResult> {
    this.#check(signal);
    checkTxn(request, false);
    const hasTtl = request.write.some((operation) => operation.type === 'put' && operation.ttlSeconds !== undefined);
    const leased = hasTtl ? this.#withLeases(request) : request;
    return this.#commit(applyTxn(this.#state, leased));
  }

  watch(options: WatchOptions, sink: WatchSink): WatchHandle {
    this.#check(undefined);
    return this.#hub.watch(options, sink);
  }

  async grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<Lease> {
    this.#check(signal);
    checkTtl(ttlSeconds);
    return { id: this.#grant(ttlSeconds), ttlSeconds };
  }

  async renewLease(id: LeaseId, signal?: AbortSignal): Promise<Lease | undefined> {
    this.#check(signal);
    checkLeaseId(id);
    const lease = this.#commit(renewLease(this.#state, id, this.#clock.now()));
    return lease && { id, ttlSeconds: lease.ttlSeconds };
  }

  async revokeLease(id: LeaseId, signal?: AbortSignal): Promise<boolean> {
    this.#check(signal);
    checkLeaseId(id);
    return this.#revoke(id);
  }

  async compact(revision: number, signal?: AbortSignal): Promise<CompactResult> {
    this.#check(signal);
    checkCompact(revision);
    if (revision > this.#state.revision) throw futureRevision(revision, this.#state.revision);
    return this.#compactTo(revision);
  }

  async snapshot(file: string, signal?: AbortSignal): Promise<SnapshotInfo> {
    this.#check(signal);
    const state = this.#state;
    return { revision: state.revision, sizeBytes: await writeSnapshot(file, state, signal) };
  }

  /** A no-op: the garbage collector frees memory. */
  async defragment(signal?: AbortSignal): Promise<void> {
    this.#check(signal);
  }

  async status(signal?: AbortSignal): Promise<StoreStatus> {
    this.#check(signal);
    const { revision, compactRevision, keys } = this.#state;
    let bytes = 0;
    keys.visit(undefined, (key, entry) => {
      bytes += key.length + entry.value.length + ENTRY_BYTES;
      return true;
    });
    return { engine: 'memory', version: '1', revision, compactRevision, sizeBytes: bytes, usedBytes: bytes, fragmentation: 0 };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#expiry.cancel();
    this.#window.stop();
    this.#hub.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #check(signal: AbortSignal | undefined): void {
    if (this.#closed) throw new StoreError('closed', 'the store is closed');
    signal?.throwIfAborted();
  }

  #commit<R>({ state, changes, result }: Transition<R>): R {
    this.#state = state;
    if (changes.length > 0) this.#hub.publish(changes, state.revision);
    return result;
  }

  #keysAt(revision: number): MemoryState['keys'] {
    if (revision === this.#state.revision) return this.#state.keys;
    // One past state is cached: all pages of a list read the same revision.
    if (this.#past?.revision !== revision) this.#past = { revision, keys: keysAt(this.#state, revision) };
    return this.#past.keys;
  }

  #history(revision: number, atMost: number): HistoryChunk<MemoryChange['previous']> {
    const changes: MemoryChange[] = [];
    let throughRevision = this.#state.revision;
    this.#state.history.visit(revision, (at, ofRevision) => {
      pushAll(changes, ofRevision);
      if (changes.length < atMost) return true;
      throughRevision = at;
      return false;
    });
    return { changes, throughRevision };
  }

  #withLeases(request: TxnRequest): TxnRequest {
    const write = request.write.map((operation): Operation => {
      if (operation.type === 'delete' || operation.ttlSeconds === undefined) return operation;
      const { key, value, ttlSeconds } = operation;
      return { type: 'put', key, value, lease: this.#leaseFor(ttlSeconds) };
    });
    return { ...request, write };
  }

  #leaseFor(ttlSeconds: number): LeaseId {
    const now = this.#clock.now();
    const shared = this.#ttlLeases.take(ttlSeconds, now);
    if (shared !== undefined) return shared;
    const id = this.#grant(TtlLeases.grantSeconds(ttlSeconds));
    this.#ttlLeases.remember(ttlSeconds, id, now);
    return id;
  }

  #grant(ttlSeconds: number): LeaseId {
    const lease = this.#commit(grantLease(this.#state, ttlSeconds, this.#clock.now()));
    this.#expiry.notAfter(lease.expiresAt);
    return lease.id;
  }

  #revoke(id: LeaseId): boolean {
    this.#ttlLeases.forget(id);
    return this.#commit(revokeLease(this.#state, id));
  }

  #expire(): void {
    const now = this.#clock.now();
    const expired: LeaseId[] = [];
    this.#state.leases.visit(undefined, (id, lease) => {
      if (lease.expiresAt <= now) expired.push(id);
      return true;
    });
    for (const id of expired) this.#revoke(id);
    this.#scheduleExpiry();
  }

  #scheduleExpiry(): void {
    let earliest = Number.POSITIVE_INFINITY;
    this.#state.leases.visit(undefined, (_, lease) => {
      earliest = Math.min(earliest, lease.expiresAt);
      return true;
    });
    this.#expiry.notAfter(earliest);
  }

  #compactTo(revision: number): CompactResult {
    const { compactRevision } = this.#state;
    if (revision <= compactRevision) return { status: 'compacted', compactRevision };
    this.#state = compactState(this.#state, revision);
    if (this.#past !== undefined && this.#past.revision < revision) this.#past = undefined;
    return { status: 'ok' };
  }
}
