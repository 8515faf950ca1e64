import { bytesOf } from '../lazy-value.ts';
import type { Compare, Delete, Entry, LeaseId, Operation, Put, TxnRequest, TxnResult } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { TtlLeases } from '../ttl-leases.ts';
import type { Change } from '../watch-hub.ts';
import { leaseId, type Reader, toEvent } from './reader.ts';
import {
  encodeIndex,
  encodeLease,
  encodeLog,
  encodeState,
  type IndexRecord,
  type LeaseRecord,
  type Location,
  type LogRecord,
  locationOf,
  type RecordBuffer,
  revisionOf,
  type StateRecord,
} from './records.ts';
import { APPEND, type Tables } from './tables.ts';

/** The last published state, which a batch builds on. */
export interface BatchBase {
  readonly tables: Tables;
  readonly reader: Reader;
  readonly buffer: RecordBuffer;
  readonly state: StateRecord;
  readonly leases: ReadonlyMap<number, LeaseRecord>;
  readonly ttlLeases: TtlLeases;
  now(): number;
  /** Called before the first write, when lmdb schedules the commit. */
  onFirstWrite(): void;
}

/** A version that this batch wrote and that cannot be read yet. */
interface PendingVersion extends IndexRecord {
  readonly value: Uint8Array | undefined;
}

/**
 * Transactions that are committed together. Each is decided immediately, based on the published state and the earlier ones of the batch,
 * and passed to lmdb; decisions are final, because a batch is committed as a whole or not at all.
 */
export class Batch {
  readonly changes: Change<Location>[] = [];
  /** Leases granted or renewed (a record) and revoked (undefined) in this batch. */
  readonly leases = new Map<number, LeaseRecord | undefined>();
  readonly #base: BatchBase;
  readonly #pending = new Map<string, PendingVersion | undefined>();
  #state: StateRecord;
  #writes = 0;
  #sawPending = false;

  constructor(base: BatchBase) {
    this.#base = base;
    this.#state = base.state;
  }

  get state(): StateRecord {
    return this.#state;
  }

  /** The number of writes passed to lmdb. */
  get writes(): number {
    return this.#writes;
  }

  /** Runs `decide` and returns whether its result is valid now, or only when the batch is durable. */
  decide<T>(decide: (batch: Batch) => T): { readonly result: T; readonly holdsNow: boolean } {
    const before = this.#writes;
    this.#sawPending = false;
    const result = decide(this);
    return { result, holdsNow: this.#writes === before && !this.#sawPending };
  }

  txn(request: TxnRequest): TxnResult {
    const { compare, write, elseRead } = request;
    if (compare !== undefined && !this.#comparesHold(compare)) return this.#failed(elseRead);
    for (const operation of write) if (operation.type === 'put') this.#checkLease(operation);
    const { revision } = this.#state;
    this.write(write);
    const changed = this.#state.revision > revision;
    return { succeeded: true, revision: changed ? this.#state.revision : this.#answerRevision(), reads: [] };
  }

  /** A result that changes nothing may be returned before the batch is durable if it depends only on the published state. */
  #answerRevision(): number {
    return this.#sawPending ? this.#state.revision : this.#base.state.revision;
  }

  #comparesHold(compare: readonly Compare[]): boolean {
    for (const { key, modRevision } of compare) {
      const version = this.#live(key);
      if ((version === undefined ? 0 : revisionOf(version.location)) !== modRevision) return false;
    }
    return true;
  }

  #failed(elseRead: readonly string[] | undefined): TxnResult {
    const reads = elseRead === undefined ? [] : elseRead.map((key) => this.#read(key));
    return { succeeded: false, revision: this.#answerRevision(), reads };
  }

  #read(key: string): Entry | undefined {
    const version = this.#live(key);
    if (version === undefined) return undefined;
    const entry = this.#base.reader.entryOf(key, version);
    const pending = this.#pending.get(key)?.value;
    return pending === undefined ? entry : { ...entry, value: pending };
  }

  #checkLease({ lease }: Put): void {
    if (lease !== undefined) this.lease(lease);
  }

  /** The lease, or an error when there is none. */
  lease(id: LeaseId): LeaseRecord {
    const lease = this.findLease(Number.parseInt(id, 16));
    if (lease === undefined) throw new StoreError('lease-not-found', `there is no lease ${id}`);
    return lease;
  }

  findLease(id: number): LeaseRecord | undefined {
    if (!this.leases.has(id)) return this.#base.leases.get(id);
    this.#sawPending = true;
    return this.leases.get(id);
  }

  /** The latest version, deleted ones included. */
  #latest(key: string): IndexRecord | undefined {
    if (!this.#pending.has(key)) return this.#base.reader.index(key);
    this.#sawPending = true;
    return this.#pending.get(key);
  }

  #live(key: string): IndexRecord | undefined {
    const version = this.#latest(key);
    return version === undefined || version.deleted ? undefined : version;
  }

  /** All operations as one revision; no revision when they change nothing. */
  write(operations: readonly Operation[]): void {
    const revision = this.#state.revision + 1;
    let done = 0;
    for (const operation of operations) {
      const before = this.#latest(operation.key);
      if (operation.type === 'delete' && (before === undefined || before.deleted)) continue;
      this.#apply(operation, before, locationOf(revision, done++));
    }
    if (done > 0) this.#state = { ...this.#state, revision };
  }

  #apply(operation: Operation, before: IndexRecord | undefined, location: Location): void {
    const record = operation.type === 'put' ? this.#putRecord(operation, before) : deleteRecord(operation, before);
    const put = operation.type === 'put' ? operation.value : undefined;
    const written = put instanceof Uint8Array ? undefined : put;
    const value = put && bytesOf(put);
    const { deleted, createRevision, version, lease } = record;
    const revision = this.#state.revision + 1;
    const complete = { ...record, createRevision: createRevision === 0 && !deleted ? revision : createRevision };
    const { tables, buffer } = this.#base;
    this.#writing();
    tables.log.put(location, encodeLog(complete, value, buffer), APPEND as never).catch(ignore);
    const index = { location, deleted, createRevision: complete.createRevision, version, lease, value };
    void tables.index.put(operation.key, encodeIndex(index, buffer));
    this.#attach(operation.key, before === undefined || before.deleted ? 0 : before.lease, lease);
    this.#pending.set(operation.key, index);
    this.changes.push({ event: toEvent(complete, revision, value, written), previous: record.previous });
  }

  #putRecord(put: Put, before: IndexRecord | undefined): LogRecord {
    const live = before !== undefined && !before.deleted;
    return {
      key: put.key,
      deleted: false,
      previous: before?.location ?? 0,
      createRevision: live ? before.createRevision : 0,
      version: live ? before.version + 1 : 1,
      lease: this.#leaseOf(put),
    };
  }

  #leaseOf({ lease, ttlSeconds }: Put): number {
    if (lease !== undefined) return Number.parseInt(lease, 16);
    if (ttlSeconds === undefined) return 0;
    const { ttlLeases, now } = this.#base;
    const shared = ttlLeases.take(ttlSeconds, now());
    if (shared !== undefined) return Number.parseInt(shared, 16);
    const { id } = this.grant(TtlLeases.grantSeconds(ttlSeconds));
    ttlLeases.remember(ttlSeconds, leaseId(id)!, now());
    return id;
  }

  #attach(key: string, from: number, to: number): void {
    if (from === to) return;
    const { leaseKeys } = this.#base.tables;
    if (from !== 0) void leaseKeys.remove([from, key]);
    if (to !== 0) void leaseKeys.put([to, key], MARK);
  }

  grant(ttlSeconds: number): LeaseRecord {
    const id = this.#state.nextLease;
    this.#state = { ...this.#state, nextLease: id + 1 };
    return this.#putLease({ id, ttlSeconds, expiresAt: this.#base.now() + ttlSeconds * 1_000 });
  }

  renew(id: number): LeaseRecord | undefined {
    const lease = this.findLease(id);
    return lease && this.#putLease({ ...lease, expiresAt: this.#base.now() + lease.ttlSeconds * 1_000 });
  }

  #putLease(lease: LeaseRecord): LeaseRecord {
    this.#writing();
    void this.#base.tables.leases.put(lease.id, encodeLease(lease, this.#base.buffer));
    this.leases.set(lease.id, lease);
    return lease;
  }

  /** Deletes the lease and its keys, in as many revisions as necessary. */
  revoke(id: number, maxOperations: number): boolean {
    if (this.findLease(id) === undefined) return false;
    const deletes = this.#keysOf(id).map((key): Delete => ({ type: 'delete', key }));
    for (let at = 0; at < deletes.length; at += maxOperations) this.write(deletes.slice(at, at + maxOperations));
    this.#writing();
    void this.#base.tables.leases.remove(id);
    this.leases.set(id, undefined);
    this.#base.ttlLeases.forget(leaseId(id)!);
    return true;
  }

  #keysOf(lease: number): string[] {
    const keys = new Set<string>();
    const range = { start: [lease, ''], end: [lease + 1, ''] };
    for (const [, key] of this.#base.tables.leaseKeys.getKeys(range)) keys.add(key);
    for (const key of this.#pending.keys()) keys.add(key);
    return [...keys].filter((key) => this.#live(key)?.lease === lease);
  }

  compact(compactRevision: number): void {
    this.#writing();
    this.#state = { ...this.#state, compactRevision };
  }

  /** Removes compacted versions, continuing up to `through`, about `budget` versions at a time. */
  scrub(through: number, budget: number): void {
    const from = this.#state.scrubbedRevision + 1;
    let visited = 0;
    let last = through;
    for (const { location, record } of this.#base.reader.logRecords(from, through)) {
      const revision = revisionOf(location);
      // Progress is recorded per revision; repeating a part of one is harmless.
      if (visited++ >= budget && revision > from) {
        last = revision - 1;
        break;
      }
      this.#scrubVersion(location, record);
    }
    this.#writing();
    this.#state = { ...this.#state, scrubbedRevision: last };
  }

  #scrubVersion(location: Location, { key, deleted, previous }: LogRecord): void {
    const { log, index } = this.#base.tables;
    this.#writing();
    if (previous !== 0) void log.remove(previous);
    if (!deleted) return;
    void log.remove(location);
    if (this.#latest(key)?.location !== location) return;
    void index.remove(key);
    this.#pending.set(key, undefined);
  }

  /** The last write: the commit that follows resolves the promise. */
  seal(): Promise<boolean> {
    const { tables, buffer } = this.#base;
    return tables.meta.put('state', encodeState(this.#state, buffer));
  }

  #writing(): void {
    if (this.#writes++ === 0) this.#base.onFirstWrite();
  }
}

const MARK = Buffer.from([1]);

function ignore(): void {
  // A failed commit is reported once, by the promise of the whole batch.
}

function deleteRecord(operation: Delete, before: IndexRecord | undefined): LogRecord {
  return { key: operation.key, deleted: true, previous: before?.location ?? 0, createRevision: 0, version: 0, lease: 0 };
}
