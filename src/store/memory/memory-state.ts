import { needsPointOrder, pointOrder, unitOrder } from '../key-order.ts';
import type { LazyValue } from '../lazy-value.ts';
import type { Entry, LeaseId, Operation, Put, TxnRequest, TxnResult, WatchEvent } from '../store.ts';
import { StoreError } from '../store-error.ts';
import type { Change } from '../watch-hub.ts';
import { ChangeLog } from './change-log.ts';
import { PersistentMap } from './persistent-map.ts';

export type MemoryChange = Change<Entry | undefined>;

export interface LeaseRecord {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly keys: PersistentMap<string, true>;
}

/** The complete immutable state of a memory store: a fork is a second reference. */
export interface MemoryState {
  readonly revision: number;
  readonly compactRevision: number;
  readonly keys: PersistentMap<string, Entry>;
  /** The changes of each revision after `compactRevision`. */
  readonly history: ChangeLog<MemoryChange>;
  readonly leases: PersistentMap<LeaseId, LeaseRecord>;
  readonly nextLease: number;
}

/** The state after a write, and its changes. */
export interface Transition<R> {
  readonly state: MemoryState;
  readonly changes: readonly MemoryChange[];
  readonly result: R;
}

const FIRST_REVISION = 1;

export function emptyState(): MemoryState {
  return {
    revision: FIRST_REVISION,
    compactRevision: 0,
    keys: PersistentMap.empty(unitOrder),
    history: ChangeLog.after(FIRST_REVISION),
    leases: PersistentMap.empty(unitOrder),
    nextLease: 1,
  };
}

export function applyTxn(state: MemoryState, request: TxnRequest): Transition<TxnResult> {
  if (request.compare !== undefined) {
    for (const { key, modRevision } of request.compare) {
      if ((state.keys.get(key)?.modRevision ?? 0) === modRevision) continue;
      const reads = request.elseRead === undefined ? [] : request.elseRead.map((key) => state.keys.get(key));
      return { state, changes: [], result: { succeeded: false, revision: state.revision, reads } };
    }
  }
  for (const operation of request.write) {
    if (operation.type === 'put' && operation.lease !== undefined) leaseOf(state, operation.lease);
  }
  const written = write(state, request.write);
  return { ...written, result: { succeeded: true, revision: written.state.revision, reads: [] } };
}

/** All operations as one revision; no revision when they change nothing. */
function write(state: MemoryState, operations: readonly Operation[]): Omit<Transition<never>, 'result'> {
  const revision = state.revision + 1;
  const changes: MemoryChange[] = [];
  let { keys, leases } = state;
  for (const operation of operations) {
    const previous = keys.get(operation.key);
    if (operation.type === 'delete' && previous === undefined) continue;
    const lease = operation.type === 'put' ? operation.lease : undefined;
    if (previous?.lease !== lease) leases = moved(leases, { key: operation.key, from: previous?.lease, to: lease });
    if (operation.type === 'delete') keys = keys.delete(operation.key);
    else keys = ordered(keys, operation.key).set(operation.key, entryOf(operation, previous, revision));
    changes.push({ event: eventOf(operation, operation.type === 'put' ? keys.get(operation.key) : undefined, revision), previous });
  }
  if (changes.length === 0) return { state, changes };
  return { state: { ...state, revision, keys, leases, history: state.history.with(changes) }, changes };
}

function ordered<V>(keys: PersistentMap<string, V>, key: string): PersistentMap<string, V> {
  return needsPointOrder(key) ? keys.withOrder(pointOrder) : keys;
}

function entryOf(put: Put, previous: Entry | undefined, revision: number): Entry {
  const { key, value, lease } = put;
  const createRevision = previous?.createRevision ?? revision;
  const version = (previous?.version ?? 0) + 1;
  const entry = { key, createRevision, modRevision: revision, version, lease };
  return value instanceof Uint8Array ? { ...entry, value } : new LazyEntry(value, entry);
}

/** An entry whose bytes are encoded when they are read. */
class LazyEntry implements Entry {
  readonly key: string;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly lease: LeaseId | undefined;
  readonly #value: LazyValue;

  constructor(value: LazyValue, { key, createRevision, modRevision, version, lease }: Omit<Entry, 'value'>) {
    this.#value = value;
    this.key = key;
    this.createRevision = createRevision;
    this.modRevision = modRevision;
    this.version = version;
    this.lease = lease;
  }

  get value(): Uint8Array {
    return this.#value.bytes;
  }
}

/** The change of an entry whose bytes are encoded when they are read. */
class LazyEvent implements WatchEvent {
  readonly type = 'put';
  readonly prevValue = undefined;
  readonly #entry: Entry;

  constructor(
    entry: Entry,
    readonly written: LazyValue,
  ) {
    this.#entry = entry;
  }

  get key(): string {
    return this.#entry.key;
  }

  get value(): Uint8Array {
    return this.written.bytes;
  }

  get modRevision(): number {
    return this.#entry.modRevision;
  }

  get createRevision(): number {
    return this.#entry.createRevision;
  }

  get version(): number {
    return this.#entry.version;
  }

  get lease(): LeaseId | undefined {
    return this.#entry.lease;
  }
}

function eventOf(operation: Operation, entry: Entry | undefined, revision: number): WatchEvent {
  if (operation.type === 'put' && entry !== undefined && !(operation.value instanceof Uint8Array))
    return new LazyEvent(entry, operation.value);
  return {
    type: operation.type,
    key: operation.key,
    value: entry?.value,
    written: undefined,
    prevValue: undefined,
    modRevision: revision,
    createRevision: entry?.createRevision ?? 0,
    version: entry?.version ?? 0,
    lease: entry?.lease,
  };
}

interface LeaseMove {
  readonly key: string;
  readonly from: LeaseId | undefined;
  readonly to: LeaseId | undefined;
}

function moved(leases: MemoryState['leases'], { key, from, to }: LeaseMove): MemoryState['leases'] {
  let result = leases;
  const old = from === undefined ? undefined : result.get(from);
  if (old !== undefined) result = result.set(old.id, { ...old, keys: old.keys.delete(key) });
  const next = to === undefined ? undefined : result.get(to);
  return next === undefined ? result : result.set(next.id, { ...next, keys: ordered(next.keys, key).set(key, true) });
}

function leaseOf(state: MemoryState, id: LeaseId): LeaseRecord {
  const lease = state.leases.get(id);
  if (lease === undefined) throw new StoreError('lease-not-found', `there is no lease ${id}`);
  return lease;
}

export function grantLease(state: MemoryState, ttlSeconds: number, nowMs: number): Transition<LeaseRecord> {
  const id = state.nextLease.toString(16);
  const lease = { id, ttlSeconds, expiresAt: nowMs + ttlSeconds * 1_000, keys: PersistentMap.empty<string, true>(unitOrder) };
  return { state: { ...state, nextLease: state.nextLease + 1, leases: state.leases.set(id, lease) }, changes: [], result: lease };
}

export function renewLease(state: MemoryState, id: LeaseId, nowMs: number): Transition<LeaseRecord | undefined> {
  const lease = state.leases.get(id);
  if (lease === undefined) return { state, changes: [], result: undefined };
  const renewed = { ...lease, expiresAt: nowMs + lease.ttlSeconds * 1_000 };
  return { state: { ...state, leases: state.leases.set(id, renewed) }, changes: [], result: renewed };
}

/** Deletes the lease and its keys in one revision. */
export function revokeLease(state: MemoryState, id: LeaseId): Transition<boolean> {
  const lease = state.leases.get(id);
  if (lease === undefined) return { state, changes: [], result: false };
  const deletes: Operation[] = [];
  lease.keys.visit(undefined, (key) => deletes.push({ type: 'delete', key }) > 0);
  const written = write(state, deletes);
  return { state: { ...written.state, leases: written.state.leases.delete(id) }, changes: written.changes, result: true };
}

export function compactState(state: MemoryState, compactRevision: number): MemoryState {
  return { ...state, compactRevision, history: state.history.without(compactRevision) };
}

/** The keys as they were right after `revision`: the present ones with every later change undone. */
export function keysAt(state: MemoryState, revision: number): PersistentMap<string, Entry> {
  const earliest = new Map<string, Entry | undefined>();
  state.history.visit(revision + 1, (_, changes) => {
    for (const { event, previous } of changes) if (!earliest.has(event.key)) earliest.set(event.key, previous);
    return true;
  });
  let keys = state.keys;
  for (const [key, entry] of earliest) keys = entry === undefined ? keys.delete(key) : keys.set(key, entry);
  return keys;
}
