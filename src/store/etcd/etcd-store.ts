import { open } from 'node:fs/promises';
import {
  type Clock,
  type Dialer,
  type GrpcConnection,
  GrpcError,
  type GrpcTls,
  type Logger,
  type Random,
  realClock,
  receive,
  silentLogger,
  systemRandom,
} from '#base';
import { DEFAULT_HISTORY_WINDOW_MS } from '../history-window.ts';
import { keyBounds } from '../key-bounds.ts';
import { bytesOf } from '../lazy-value.ts';
import { checkCompact, checkKey, checkLeaseId, checkRange, checkTtl, checkTxn, checkWatch } from '../limits.ts';
import { newFile } from '../new-file.ts';
import type {
  Compacted,
  CompactResult,
  Entry,
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
import { StoreError } from '../store-error.ts';
import { type CallKind, Cluster, closedError } from './cluster.ts';
import { Compactor } from './compactor.ts';
import { isCompacted, storeErrorOf } from './etcd-error.ts';
import { EtcdTtlLeases } from './etcd-leases.ts';
import { EtcdWatch } from './etcd-watch.ts';
import {
  compareModRevision,
  decodeHeader,
  decodeLease,
  decodeRange,
  decodeSnapshot,
  decodeStatus,
  decodeTxn,
  deleteOperation,
  encodeCompact,
  encodeLeaseGrant,
  encodeLeaseId,
  encodeRange,
  encodeTxn,
  getOperation,
  putOperation,
  type RangeCall,
  type RangeResponse,
} from './messages.ts';
import { atLeastVersion } from './server-version.ts';

export interface EtcdStoreOptions {
  /** `http://host:port` or `https://host:port` of the members; one is enough, all are better. */
  readonly endpoints: readonly string[];
  readonly tls?: GrpcTls;
  /** Connects to members. Default: directly. */
  readonly dial?: Dialer | undefined;
  /** Prefix of every key in etcd, invisible to callers. Default: none, as keys are already complete (`/registry/…`). */
  readonly prefix?: string;
  /** Default: the real one. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  /** Older history is compacted by one of the API servers; Infinity leaves that to others. Default: five minutes. */
  readonly historyWindowMs?: number;
  /** Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** Keep-alive: a silent connection is pinged after this time, and closed after the same time again. Default 5 s. */
  readonly keepAliveMs?: number;
  /** How long a read waits for one member before it tries another. Default 3 s. */
  readonly attemptTimeoutMs?: number;
  /** How long a call may take. Default 15 s. */
  readonly callTimeoutMs?: number;
  /** The time limit of the first connection, so that a wrong address fails early. Default 4 s. */
  readonly openTimeoutMs?: number;
}

/** A store in an etcd cluster: for control planes on several machines. */
export interface EtcdStore extends Store {
  readonly engine: 'etcd';
}

/** Connects to etcd 3.4 or later; rejects with `unavailable` when no member answers in time. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const store = new ClusterStore(options);
  try {
    await store.begin();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A range without a limit is fetched in pages of this many keys, all of one revision. */
const PAGE_KEYS = 5_000;
const ZERO = Buffer.from([0]);

// One file: one method for each operation of the Store contract; watches, leases, compaction and messages have files of their own.
class ClusterStore implements EtcdStore {
  readonly engine = 'etcd';
  readonly localReads = false;
  readonly #options: EtcdStoreOptions;
  readonly #clock: Clock;
  readonly #space: string;
  readonly #cluster: Cluster;
  readonly #ttlLeases: EtcdTtlLeases;
  readonly #compactor: Compactor;
  readonly #watches = new Set<EtcdWatch>();
  readonly #calls = new Set<Promise<unknown>>();
  #knownRevision = 1;
  #compactRevision = 0;
  #version = '';
  #closing: Promise<void> | undefined;

  constructor(options: EtcdStoreOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#space = options.prefix ?? '';
    this.#cluster = new Cluster({
      endpoints: options.endpoints,
      tls: options.tls,
      dial: options.dial,
      clock: this.#clock,
      random: options.random ?? systemRandom,
      connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
      keepAliveMs: options.keepAliveMs ?? 5_000,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 3_000,
      callTimeoutMs: options.callTimeoutMs ?? 15_000,
    });
    this.#ttlLeases = new EtcdTtlLeases(this.#clock, (ttlSeconds) => this.grantLease(ttlSeconds));
    this.#compactor = new Compactor({
      cluster: this.#cluster,
      clock: this.#clock,
      logger: options.logger ?? silentLogger,
      intervalMs: options.historyWindowMs ?? DEFAULT_HISTORY_WINDOW_MS,
    });
  }

  async begin(): Promise<void> {
    const { openTimeoutMs: timeoutMs = OPEN_MS } = this.#options;
    const callMember = (method: string, message: Buffer) =>
      this.#cluster.call({ kind: 'read', method, message, timeoutMs }).catch((error: unknown) => {
        throw storeErrorOf(error, false);
      });
    const { version } = decodeStatus(await callMember('etcdserverpb.Maintenance/Status', Buffer.alloc(0)));
    // Version is served even without a leader, so it does not prove that the cluster works.
    const { revision } = decodeRange(
      await callMember('etcdserverpb.KV/Range', encodeRange({ start: ZERO, limit: 1, countOnly: true })),
      this.#space,
    );
    this.#learn(revision);
    if (!atLeastVersion(version, '3.4.0')) throw new StoreError('unsupported', `etcd ${version} is too old: 3.4 is needed`);
    this.#version = version;
  }

  async revision(signal?: AbortSignal): Promise<number> {
    return this.#range({ start: ZERO, limit: 1, countOnly: true }, signal).then(({ revision }) => revision);
  }

  async get(key: string, signal?: AbortSignal): Promise<GetResult> {
    checkKey(key);
    const { entries, revision } = await this.#range({ start: this.#key(key) }, signal);
    return { entry: entries[0], revision };
  }

  async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResult> {
    this.#check(signal);
    checkRange(request);
    try {
      return await this.#pages(request, signal);
    } catch (error) {
      if (isCompacted(error)) return this.#compacted(signal);
      throw storeErrorOf(error, false);
    }
  }

  async #pages(request: RangeRequest, signal: AbortSignal | undefined): Promise<RangeResult> {
    const { select = 'entries', limit = Number.POSITIVE_INFINITY } = request;
    const bounds = keyBounds(request, this.#space);
    const end = bounds.end ?? ZERO;
    let start: Uint8Array = bounds.start.length === 0 ? ZERO : bounds.start;
    if (bounds.end !== undefined && Buffer.compare(bounds.start, bounds.end) >= 0) return this.#emptyPage(request, signal);
    const entries: Entry[] = [];
    let first: RangeResponse | undefined;
    for (;;) {
      const revision = request.revision ?? first?.revision ?? 0;
      const pageSize = Math.min(PAGE_KEYS, limit - entries.length);
      const page = await this.#rawRange(
        { start, end, limit: pageSize, revision, keysOnly: select === 'keys', countOnly: select === 'count' },
        signal,
      );
      first ??= page;
      for (const entry of page.entries) entries.push(entry);
      if (page.more && entries.length < limit) {
        start = Buffer.from(`${this.#space}${entries[entries.length - 1]!.key}\0`);
        continue;
      }
      const count = page.more && request.withCount !== true ? undefined : first.count;
      return { status: 'ok', entries, more: page.more, count, revision: request.revision ?? first.revision };
    }
  }

  /** The bounds exclude every key, but the revision must still be checked. */
  async #emptyPage(request: RangeRequest, signal: AbortSignal | undefined): Promise<RangeResult> {
    const { revision } = await this.#rawRange({ start: ZERO, revision: request.revision ?? 0, countOnly: true }, signal);
    return { status: 'ok', entries: [], more: false, count: 0, revision: request.revision ?? revision };
  }

  async txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResult> {
    this.#check(signal);
    checkTxn(request, true);
    if (request.write.length === 0 && request.compare === undefined)
      return { succeeded: true, revision: await this.revision(signal), reads: [] };
    const write = request.write.some((operation) => operation.type === 'put' && operation.ttlSeconds !== undefined)
      ? await this.#withLeases(request.write)
      : request.write;
    const message = encodeTxn({
      compare: (request.compare ?? []).map(({ key, modRevision }) => compareModRevision(this.#key(key), modRevision)),
      success: write.map((operation) => this.#operation(operation)),
      failure: (request.elseRead ?? []).map((key) => getOperation(this.#key(key))),
    });
    const answer = decodeTxn(await this.#write('etcdserverpb.KV/Txn', message, signal), this.#space);
    this.#learn(answer.revision);
    const reads = answer.succeeded ? [] : answer.ranges.map(({ entries }) => entries[0]);
    return { succeeded: answer.succeeded, revision: answer.revision, reads };
  }

  #operation(operation: Operation): Buffer {
    const key = this.#key(operation.key);
    return operation.type === 'delete' ? deleteOperation(key) : putOperation(key, bytesOf(operation.value), operation.lease);
  }

  #withLeases(write: readonly Operation[]): Promise<readonly Operation[]> {
    return Promise.all(
      write.map(async (operation): Promise<Operation> => {
        if (operation.type === 'delete' || operation.ttlSeconds === undefined) return operation;
        const { type, key, value, ttlSeconds } = operation;
        return { type, key, value, lease: await this.#ttlLeases.find(ttlSeconds) };
      }),
    );
  }

  watch(options: WatchOptions, sink: WatchSink): WatchHandle {
    this.#check(undefined);
    checkWatch(options);
    const watch = new EtcdWatch(options, sink, {
      cluster: this.#cluster,
      clock: this.#clock,
      space: this.#space,
      // Earlier servers may send a progress mark before events that it covers; the versions are those that upstream trusts.
      progressOnDemand:
        atLeastVersion(this.#version, '3.5.13') || (this.#version.startsWith('3.4.') && atLeastVersion(this.#version, '3.4.31')),
      knownRevision: () => this.#knownRevision,
      onEnd: (ended) => this.#watches.delete(ended),
    });
    this.#watches.add(watch);
    return watch;
  }

  async grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<Lease> {
    this.#check(signal);
    checkTtl(ttlSeconds);
    const { id } = decodeLease(await this.#write('etcdserverpb.Lease/LeaseGrant', encodeLeaseGrant(ttlSeconds), signal));
    return { id, ttlSeconds };
  }

  /** Safe to retry: a second renewal only extends the lease. */
  async renewLease(id: LeaseId, signal?: AbortSignal): Promise<Lease | undefined> {
    this.#check(signal);
    checkLeaseId(id);
    const { ttlSeconds } = decodeLease(await this.#read('etcdserverpb.Lease/LeaseKeepAlive', encodeLeaseId(id), signal));
    return ttlSeconds > 0 ? { id, ttlSeconds } : undefined;
  }

  async revokeLease(id: LeaseId, signal?: AbortSignal): Promise<boolean> {
    this.#check(signal);
    checkLeaseId(id);
    this.#ttlLeases.forget(id);
    try {
      this.#learn(decodeHeader(await this.#write('etcdserverpb.Lease/LeaseRevoke', encodeLeaseId(id), signal)));
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'lease-not-found') return false;
      throw error;
    }
  }

  async compact(revision: number, signal?: AbortSignal): Promise<CompactResult> {
    this.#check(signal);
    checkCompact(revision);
    try {
      await this.#call('write', 'etcdserverpb.KV/Compact', encodeCompact(revision), signal);
      return { status: 'ok' };
    } catch (error) {
      if (isCompacted(error)) return this.#compacted(signal);
      throw storeErrorOf(error, true);
    }
  }

  async #compacted(signal: AbortSignal | undefined): Promise<Compacted> {
    return { status: 'compacted', compactRevision: await this.#findCompactRevision(signal) };
  }

  /** etcd does not report its compact revision, but rejects reads before it: searches for the first readable revision. */
  async #findCompactRevision(signal: AbortSignal | undefined): Promise<number> {
    let low = this.#compactRevision;
    if (await this.#readable(Math.max(1, low), signal)) return low;
    let high = await this.revision(signal);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (await this.#readable(middle, signal)) high = middle;
      else low = middle;
    }
    this.#compactRevision = high;
    return high;
  }

  async #readable(revision: number, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await this.#rawRange({ start: ZERO, revision, countOnly: true }, signal);
      return true;
    } catch (error) {
      if (isCompacted(error)) return false;
      throw storeErrorOf(error, false);
    }
  }

  async snapshot(file: string, signal?: AbortSignal): Promise<SnapshotInfo> {
    this.#check(signal);
    return newFile(file, (temporary) => this.#withMember((connection) => this.#saveSnapshot(connection, temporary, signal)));
  }

  /** The same file as etcdctl's: etcd's own tools restore it. */
  async #saveSnapshot(connection: GrpcConnection, file: string, signal: AbortSignal | undefined): Promise<SnapshotInfo> {
    const timeoutMs = this.#options.callTimeoutMs ?? 15_000;
    const range = encodeRange({ start: ZERO, limit: 1, countOnly: true });
    // The member answers only once it has applied everything up to its revision, so the snapshot contains that too.
    const { revision } = decodeRange(await connection.call('etcdserverpb.KV/Range', range, { timeoutMs, signal }), '');
    await using handle = await open(file, 'wx', 0o600);
    let sizeBytes = 0;
    for await (const blob of receive(connection, 'etcdserverpb.Maintenance/Snapshot', { request: Buffer.alloc(0), signal })) {
      sizeBytes += (await handle.write(decodeSnapshot(blob))).bytesWritten;
    }
    await handle.sync();
    return { revision, sizeBytes };
  }

  async #withMember<T>(use: (connection: GrpcConnection) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const endpoint of this.#cluster.endpoints) {
      const connection = this.#cluster.connectTo(endpoint);
      try {
        return await use(connection);
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error;
        failure = error;
      } finally {
        connection.close();
      }
    }
    throw storeErrorOf(failure, false);
  }

  /** One member after another: a member blocks while it defragments. */
  async defragment(signal?: AbortSignal): Promise<void> {
    this.#check(signal);
    for (const endpoint of this.#cluster.endpoints) {
      const connection = this.#cluster.connectTo(endpoint);
      try {
        await connection.call('etcdserverpb.Maintenance/Defragment', Buffer.alloc(0), { timeoutMs: DEFRAGMENT_MS, signal });
      } catch (error) {
        throw storeErrorOf(error, false);
      } finally {
        connection.close();
      }
    }
  }

  async status(signal?: AbortSignal): Promise<StoreStatus> {
    this.#check(signal);
    const { version, sizeBytes, usedBytes } = decodeStatus(await this.#read('etcdserverpb.Maintenance/Status', Buffer.alloc(0), signal));
    const revision = await this.revision(signal);
    const compactRevision = await this.#findCompactRevision(signal);
    const fragmentation = sizeBytes === 0 ? 0 : Math.max(0, (sizeBytes - usedBytes) / sizeBytes);
    return { engine: 'etcd', version, revision, compactRevision, sizeBytes, usedBytes, fragmentation };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const watch of [...this.#watches]) watch.end({ code: 'closed' });
    await this.#compactor.stop();
    await Promise.allSettled(this.#calls);
    this.#cluster.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #check(signal: AbortSignal | undefined): void {
    if (this.#closing !== undefined) throw closedError();
    signal?.throwIfAborted();
  }

  #key(key: string): Buffer {
    return Buffer.from(this.#space + key);
  }

  #learn(revision: number): void {
    if (revision > this.#knownRevision) this.#knownRevision = revision;
  }

  async #range(call: RangeCall, signal: AbortSignal | undefined): Promise<RangeResponse> {
    this.#check(signal);
    try {
      return await this.#rawRange(call, signal);
    } catch (error) {
      throw storeErrorOf(error, false);
    }
  }

  async #rawRange(call: RangeCall, signal: AbortSignal | undefined): Promise<RangeResponse> {
    const answer = decodeRange(await this.#call('read', 'etcdserverpb.KV/Range', encodeRange(call), signal), this.#space);
    this.#learn(answer.revision);
    return answer;
  }

  #read(method: string, message: Buffer, signal?: AbortSignal): Promise<Buffer> {
    return this.#call('read', method, message, signal).catch((error: unknown) => {
      throw storeErrorOf(error, false);
    });
  }

  #write(method: string, message: Buffer, signal?: AbortSignal): Promise<Buffer> {
    return this.#call('write', method, message, signal).catch((error: unknown) => {
      throw storeErrorOf(error, true);
    });
  }

  #call(kind: CallKind, method: string, message: Buffer, signal: AbortSignal | undefined): Promise<Buffer> {
    const call = this.#cluster.call({ kind, method, message, signal });
    this.#calls.add(call);
    const done = () => this.#calls.delete(call);
    call.then(done, done);
    return call;
  }
}

const DEFRAGMENT_MS = 60_000;
const OPEN_MS = 4_000;
