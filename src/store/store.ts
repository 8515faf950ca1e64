/**
 * The contract of the store: keys, bytes and one revision counter; never objects. `SPEC.md` numbers its rules and `contract.ts` tests
 * them on every engine. Expected failures (a comparison that does not hold, compacted history) are return values; unexpected ones
 * (bad input, a full disk, an unreachable server) are a `StoreError`. A cancelled call rejects with its signal's reason.
 *
 * Bytes passed to the store or received from it are shared, not copied: neither side modifies them afterwards.
 */

import type { LazyValue } from './lazy-value.ts';

/** A lease id as etcd prints it: lower-case hexadecimal. */
export type LeaseId = string;

/** One version of one key. */
export interface Entry {
  readonly key: string;
  /** Empty when only keys were requested. */
  readonly value: Uint8Array;
  /** The revision that made the key since it was last absent. */
  readonly createRevision: number;
  /** The revision that wrote this version. */
  readonly modRevision: number;
  /** 1 for a new key, one more with each put. */
  readonly version: number;
  readonly lease: LeaseId | undefined;
}

export interface GetResult {
  readonly entry: Entry | undefined;
  /** The revision of the store that the result reflects. */
  readonly revision: number;
}

/** All keys that begin with `prefix` and lie in [start, end), in the order of their UTF-8 bytes. */
export interface RangeRequest {
  /** Default: every key. */
  readonly prefix?: string;
  /** The first key, inclusive. For the next page: `keyAfter(lastKey)`. */
  readonly start?: string;
  /** The end of the range, exclusive. */
  readonly end?: string;
  /** The maximum number of entries; no limit when absent. */
  readonly limit?: number;
  /** `keys` omits values, `count` returns no entries. Default: `entries`. */
  readonly select?: 'entries' | 'keys' | 'count';
  /** Count the whole range although the result is limited. */
  readonly withCount?: boolean;
  /** Read the store as it was right after this revision. Default: now. */
  readonly revision?: number;
}

export interface Page {
  readonly status: 'ok';
  readonly entries: readonly Entry[];
  /** More keys follow, which `limit` cut off. */
  readonly more: boolean;
  /** Keys in the whole range; undefined when `limit` cut the range and no count was requested. */
  readonly count: number | undefined;
  /** The revision that the result reflects: the requested or the current one. Request it again for the next page of the same state. */
  readonly revision: number;
}

/** History up to and including `compactRevision` is no longer complete. */
export interface Compacted {
  readonly status: 'compacted';
  readonly compactRevision: number;
}

export type RangeResult = Page | Compacted;

/** Holds when the key's mod revision is this one; `ABSENT` holds when there is no such key. */
export interface Compare {
  readonly key: string;
  readonly modRevision: number;
}

export const ABSENT = 0;

export interface Put {
  readonly type: 'put';
  readonly key: string;
  readonly value: Uint8Array | LazyValue;
  /** The key is deleted with this lease. */
  readonly lease?: LeaseId;
  /** The key is deleted after this many seconds, or up to a minute later: keys of similar age share a lease. Not together with `lease`. */
  readonly ttlSeconds?: number;
}

export interface Delete {
  readonly type: 'delete';
  readonly key: string;
}

export type Operation = Put | Delete;

/** When every comparison holds: all of `write`, as one revision. Otherwise nothing is written and the keys of `elseRead` are read. */
export interface TxnRequest {
  readonly compare?: readonly Compare[];
  /** No key twice. */
  readonly write: readonly Operation[];
  readonly elseRead?: readonly string[];
}

export interface TxnResult {
  readonly succeeded: boolean;
  /** The revision of the write if it changed something, else of the compared state. */
  readonly revision: number;
  /** One for each key of `elseRead` when the comparison failed, else empty. */
  readonly reads: readonly (Entry | undefined)[];
}

/** One change of one key. All events have the same shape, so that code that handles many of them stays fast. */
export interface WatchEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** Undefined for a delete. */
  readonly value: Uint8Array | undefined;
  /** The writer's lazy value, if it was written by this process and not read from disk. */
  readonly written: LazyValue | undefined;
  /** The previous value, if it was requested and there was one. */
  readonly prevValue: Uint8Array | undefined;
  /** The revision of the change. */
  readonly modRevision: number;
  /** 0 for a delete. */
  readonly createRevision: number;
  /** 0 for a delete. */
  readonly version: number;
  readonly lease: LeaseId | undefined;
}

export interface WatchOptions {
  /** Default: every key. */
  readonly prefix?: string;
  /** The start revision: history from there on is delivered first. Default: the next revision. May be in the future. */
  readonly fromRevision?: number;
  readonly prevValue?: boolean;
  /** Request periodic progress marks while the prefix is quiet. */
  readonly progress?: boolean;
}

/**
 * Receives a watch. Calls come one at a time, in revision order. A store with `localReads` makes them before the promise of the write
 * that caused them resolves. A sink that throws ends only its own watch.
 */
export interface WatchSink {
  /** Events of whole transactions, in revision order; the array is shared with other watchers. `revision` is that of the last one. */
  events(batch: readonly WatchEvent[], revision: number): void;
  /** Every event up to and including `revision` has been delivered. */
  progress(revision: number): void;
  /** Called once, last, unless the watch was cancelled. */
  end(reason: WatchEnd): void;
}

export type WatchEnd =
  /** The requested changes have been compacted. */
  | { readonly code: 'compacted'; readonly compactRevision: number }
  /** The consumer's backlog exceeded its bound. */
  | { readonly code: 'slow' }
  /** The store was closed. */
  | { readonly code: 'closed' }
  | { readonly code: 'failed'; readonly error: unknown };

export interface WatchHandle extends Disposable {
  /** No call of the sink follows, not even `end`. */
  cancel(): void;
  /**
   * Requests a progress mark as soon as the watch is up to date. False when the server cannot provide a reliable one on demand;
   * then only the periodic marks of `progress` come.
   */
  requestProgress(): boolean;
}

export interface Lease {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
}

export type CompactResult = { readonly status: 'ok' } | Compacted;

export interface StoreStatus {
  readonly engine: Store['engine'];
  /** The version of the engine's format or server. */
  readonly version: string;
  readonly revision: number;
  readonly compactRevision: number;
  /** The store's size on disk. */
  readonly sizeBytes: number;
  /** The part of it that contains data. */
  readonly usedBytes: number;
  /** The unused fraction, from 0 to 1: what `defragment` frees. */
  readonly fragmentation: number;
}

export interface SnapshotInfo {
  /** The snapshot holds every change up to this revision; it may hold later ones. */
  readonly revision: number;
  readonly sizeBytes: number;
}

export interface Store extends AsyncDisposable {
  readonly engine: 'memory' | 'embedded' | 'etcd';
  /**
   * True when all writers are in this process: what the sinks of a live watch have seen is then every acknowledged write, and a cache fed by
   * it may answer reads by itself. When false, call `revision()` first and wait until the watch has reached it.
   */
  readonly localReads: boolean;
  /** The current revision; an empty store is at 1. Linearizable, as are all reads without a `revision`. */
  revision(signal?: AbortSignal): Promise<number>;
  get(key: string, signal?: AbortSignal): Promise<GetResult>;
  range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResult>;
  /**
   * Reads the value that a revision gave to a key, synchronously; undefined when the store no longer has it. Only engines with synchronous
   * reads have it: callers need not keep values in memory.
   */
  valueAt?(key: string, modRevision: number): Uint8Array | undefined;
  /** Resolves when the write is durable. Rejected: not written, unless the error is `outcome-unknown` or the call was cancelled under way. */
  txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResult>;
  watch(options: WatchOptions, sink: WatchSink): WatchHandle;
  grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<Lease>;
  /** Renews the lease. Undefined when it does not exist. */
  renewLease(id: LeaseId, signal?: AbortSignal): Promise<Lease | undefined>;
  /** Deletes the lease and its keys. False when there is no such lease. */
  revokeLease(id: LeaseId, signal?: AbortSignal): Promise<boolean>;
  /** Drops history before `revision`. `compacted` when that has already happened. */
  compact(revision: number, signal?: AbortSignal): Promise<CompactResult>;
  /** Writes the state of one moment to a new file, while writes go on. The file appears under its name only when it is complete. */
  snapshot(file: string, signal?: AbortSignal): Promise<SnapshotInfo>;
  /** Frees unused space. Writes wait for it. */
  defragment(signal?: AbortSignal): Promise<void>;
  status(signal?: AbortSignal): Promise<StoreStatus>;
  /** Ends watches and rejects calls with `closed`. Accepted writes finish first. */
  close(): Promise<void>;
}

/** The smallest key after `key`. */
export function keyAfter(key: string): string {
  return `${key}\0`;
}
