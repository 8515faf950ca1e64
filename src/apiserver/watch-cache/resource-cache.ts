import { backoffDelay, type Clock, type Logger, TurnBudget } from '#base';
import { StatusError } from '#machinery';
import { type Entry, keyAfter, PersistentMap, type Store, type WatchEvent as StoreEvent, unitOrder, type WatchHandle } from '#store';
import { type CacheFollower, CacheFollowers } from './cache-followers.ts';
import { CachedObject } from './cached-object.ts';
import { EventRing } from './event-ring.ts';
import type { KubeObject } from './kube-object.ts';
import { type ObjectEncoding, StoredObject } from './object-encoding.ts';
import { PayloadReader } from './payload-reader.ts';
import type { ResidentMemory } from './resident-memory.ts';
import type { StoredRepair } from './stored-repair.ts';
import { WatchScopes } from './watch-scopes.ts';
import {
  CacheEvent,
  initialFrame,
  NO_WATCH,
  type OpenWatch,
  type WatchFilter,
  type WatchFrame,
  type WatchScope,
  type WatchSink,
} from './watcher.ts';

export interface ResourceCacheOptions {
  readonly store: Store;
  /** The key prefix: `/registry/pods/`. */
  readonly prefix: string;
  readonly encoding: ObjectEncoding;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The memory budget of all caches. Default: unlimited. */
  readonly memory?: ResidentMemory;
  /** Updates an object stored under older rules. Returns the same object if unchanged. */
  readonly revive?: (object: KubeObject) => KubeObject;
  readonly repair?: StoredRepair;
  /** The indexed field of most watchers (`spec.nodeName`): events reach only watchers with its value. */
  readonly trigger?: (object: KubeObject) => string;
  /** The content of the store under the prefix, if known. */
  readonly initial?: CacheState;
}

/** The objects of a resource at a revision. */
export interface CacheState {
  readonly revision: number;
  readonly objects: Snapshot;
}

/** Backoff of reloads after the store's watch broke. */
const RELOAD_BACKOFF = { initialMs: 100, maxMs: 30_000 };
/** A watch that breaks within this time after the previous one increases the backoff. */
const STABLE_MS = 60_000;
const KEPT_SNAPSHOTS = 16;
/** The lifetime of snapshots, like that of history in stores: clients rely on expiring continue tokens. */
const SNAPSHOT_MS = 300_000;
/** The lifetime of states read from the store's history: it may be compacted soon. */
const PAST_STATE_MS = 10_000;
/** The page size of store reads. */
const READ_PAGE = 200;
const READ_ATTEMPTS = 3;
/** The page size of a watch's initial state. */
const PAGE = 256;
/** If more than one in so many objects changed, sorting everything is cheaper. */
const MANY = 8;

export type Snapshot = PersistentMap<string, CachedObject>;

// One file: loading, following, snapshots and watches share the state whose order SPEC.md prescribes.
/** All objects of one resource, kept current by one watch on the store; see SPEC.md. */
export class ResourceCache {
  readonly #options: ResourceCacheOptions;
  readonly #byKey = new Map<string, CachedObject>();
  /** The sorted objects as of the last ordered read; later changes are merged on demand. Undefined: to be sorted anew. */
  #sorted: Snapshot | undefined;
  readonly #unsorted = new Set<string>();
  #revision = 0;
  readonly #ring = new EventRing();
  readonly #scopes: WatchScopes;
  readonly #followers: CacheFollowers;
  readonly #reader: PayloadReader;
  /** For repaired objects, which cannot be served as stored. */
  readonly #repairing: PayloadReader;
  /** Objects of a load in progress. */
  #loading: readonly CachedObject[] = [];
  /** Undefined when objects cannot be read again synchronously. */
  readonly #memory: ResidentMemory | undefined;
  #waiters: { revision: number; resolve: () => void; reject: (error: Error) => void }[] = [];
  /** Snapshots of paginated lists by revision, oldest first. */
  readonly #snapshots = new Map<number, { readonly snapshot: Snapshot; readonly untilMs: number }>();
  #watch: WatchHandle | undefined;
  #started: Promise<void> | undefined;
  #isCurrent = false;
  #isReloading = false;
  #breaks = 0;
  #brokeAt = Number.NEGATIVE_INFINITY;
  readonly #closed = new AbortController();

  constructor(options: ResourceCacheOptions) {
    const { repair } = options;
    this.#options = options;
    this.#scopes = new WatchScopes(options);
    this.#followers = new CacheFollowers(options);
    this.#reader = new PayloadReader(options);
    this.#repairing = new PayloadReader({ ...options, ...(repair && { revive: (object, key) => repair.fit(object, key).object }) });
    this.#memory = this.#reader.isPossible ? options.memory : undefined;
    this.#memory?.add(this);
    options.memory?.addHistory(this);
    if (options.initial !== undefined) this.#started = this.#showAndFollow(options.initial);
  }

  get prefix(): string {
    return this.#options.prefix;
  }

  /** The store revision that this cache reflects. */
  get revision(): number {
    return this.#revision;
  }

  /** Loads the resource the first time. Rejects while it cannot be reloaded after the store's watch broke. */
  start(): Promise<void> {
    if (this.#closed.signal.aborted) return Promise.reject(closedError(this.prefix));
    if (this.#started === undefined && this.#isReloading) return Promise.reject(reinitializing());
    this.#started ??= this.#load().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  /** Whether the cache is in sync: false until the first load, and from a broken store watch until the reload. */
  get isStarted(): boolean {
    return this.#isCurrent;
  }

  /** Resolves once every write acknowledged before the call is in the cache. */
  async fresh(): Promise<void> {
    while (!this.isStarted) await this.start();
    const revision = await this.#options.store.revision();
    if (this.#options.store.localReads) this.#advance(revision);
    else if (revision > this.#revision) await (this.#watch?.requestProgress() ? this.reached(revision) : this.#confirm());
  }

  /** For stores without watch progress: compares the store with the cache until both are equal. */
  async #confirm(): Promise<void> {
    const { store, prefix } = this.#options;
    for (;;) {
      const page = await store.range({ prefix, select: 'keys' });
      if (page.status !== 'ok') return;
      if (this.#revision > page.revision) return;
      const isSame =
        page.entries.length === this.#byKey.size &&
        page.entries.every(({ key, modRevision }) => this.#byKey.get(key)?.revision === modRevision);
      if (isSame) return this.#advance(page.revision);
      const newest = page.entries.reduce((most, { modRevision }) => Math.max(most, modRevision), this.#revision + 1);
      await this.reached(newest);
    }
  }

  /** The cached object of a store entry, or the decoded entry. */
  objectOf({ key, value, modRevision }: Entry): CachedObject {
    const cached = this.#byKey.get(key);
    return cached?.revision === modRevision ? cached : this.#decode(key, value, modRevision);
  }

  /** Resolves when the cache has reached `revision`. */
  reached(revision: number): Promise<void> {
    if (this.#revision >= revision) return Promise.resolve();
    if (this.#closed.signal.aborted) return Promise.reject(closedError(this.prefix));
    return new Promise((resolve, reject) => {
      this.#waiters.push({ revision, resolve, reject });
      this.#watch?.requestProgress();
    });
  }

  get(key: string): CachedObject | undefined {
    return this.#byKey.get(key);
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The current state; immutable. */
  snapshot(): Snapshot {
    const isMany = this.#unsorted.size * MANY > this.#byKey.size;
    this.#sorted = this.#sorted === undefined || isMany ? this.#sortAll() : this.#mergeChanges(this.#sorted);
    this.#unsorted.clear();
    return this.#sorted;
  }

  #mergeChanges(sorted: Snapshot): Snapshot {
    let merged = sorted;
    for (const key of this.#unsorted) {
      const object = this.#byKey.get(key);
      merged = object === undefined ? merged.delete(key) : merged.set(key, object);
    }
    return merged;
  }

  #sortAll(): Snapshot {
    const keys = [...this.#byKey.keys()].sort(unitOrder);
    return PersistentMap.fromSorted(
      unitOrder,
      keys,
      keys.map((key) => this.#byKey.get(key)!),
    );
  }

  /** Keeps a state for pagination. */
  keepSnapshot(revision: number, snapshot: Snapshot, lifetimeMs = SNAPSHOT_MS): void {
    this.#snapshots.delete(revision);
    this.#snapshots.set(revision, { snapshot, untilMs: this.#options.clock.monotonic() + lifetimeMs });
    if (this.#snapshots.size > KEPT_SNAPSHOTS) this.#snapshots.delete(this.#snapshots.keys().next().value!);
  }

  /** The state at `revision`; undefined when it is no longer available. */
  async snapshotAt(revision: number): Promise<Snapshot | undefined> {
    const cached = this.#snapshots.get(revision);
    if (cached !== undefined && this.#options.clock.monotonic() < cached.untilMs) return cached.snapshot;
    const state = await this.#read(revision);
    if (state !== undefined) this.keepSnapshot(revision, state.objects, PAST_STATE_MS);
    return state?.objects;
  }

  /** Kept states hold replaced and deleted objects in memory; the store has them too, until it is compacted. */
  dropHistory(): void {
    this.#snapshots.clear();
    if (this.#unsorted.size > 0) this.#sorted = undefined;
    this.#unsorted.clear();
  }

  *objectsInMemory(): Iterable<CachedObject> {
    yield* this.#byKey.values();
    yield* this.#loading;
  }

  /** The objects below `prefix`, in key order. */
  *objects(prefix = this.prefix): Iterable<CachedObject> {
    yield* listFrom(this.snapshot(), prefix);
  }

  /** The oldest revision a watch can start after. */
  get oldestRevision(): number {
    return this.#ring.start;
  }

  /**
   * The backlog has the events after `since`, or the state when that is undefined; later events go to the sink. Undefined when events after
   * `since` are unavailable: too old, or the cache is not in sync.
   */
  watch(filter: WatchFilter, sink: WatchSink, start: { since?: number; initialEventsEnd?: boolean }): OpenWatch | undefined {
    if (this.#closed.signal.aborted) {
      sink.end('closed');
      return NO_WATCH;
    }
    if (!this.#isCurrent || (start.since !== undefined && start.since < this.#ring.start)) return undefined;
    const scope = this.#scopes.of(filter);
    const initialEventsEnd = start.since === undefined && start.initialEventsEnd === true ? this.#revision : undefined;
    const stop = this.#scopes.add(scope, sink);
    if (start.since !== undefined) return { backlog: eventFrames([...this.#ring.after(start.since)], scope), initialEventsEnd, stop };
    const snapshot = this.snapshot();
    return { backlog: stateFrames(snapshot, filter), stateId: scope.stateId(snapshot), initialEventsEnd, stop };
  }

  /** Resolves once the follower has every object. From then on it equals the cache whenever `isStarted`. */
  follow(follower: CacheFollower): Promise<void> {
    this.#followers.add(follower, this.#byKey.values());
    return this.start();
  }

  close(): void {
    if (!this.#closed.signal.aborted) this.#memory?.remove(this);
    this.#options.memory?.removeHistory(this);
    this.#closed.abort();
    this.#isCurrent = false;
    this.#watch?.cancel();
    this.#scopes.end('closed');
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closedError(this.prefix));
  }

  async #load(): Promise<void> {
    const { prefix } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const state = await this.#read();
      if (this.#closed.signal.aborted) throw closedError(prefix);
      if (state !== undefined) return this.#showAndFollow(state);
      if (attempt === READ_ATTEMPTS) throw new Error(`cannot read ${prefix}: its history is gone before it is read`);
    }
  }

  /**
   * The current state, or that at `past`, read in pages, so that objects that will be shed are never in memory together. Undefined when the
   * revision is compacted.
   */
  async #read(past?: number): Promise<CacheState | undefined> {
    const { store, prefix } = this.#options;
    const request = { prefix, ...(store.engine !== 'memory' && { limit: READ_PAGE }) };
    const keys: string[] = [];
    const objects: CachedObject[] = [];
    if (past === undefined) this.#loading = objects;
    let page = await store.range({ ...request, ...(past !== undefined && { revision: past }) });
    const turn = new TurnBudget(this.#options.clock);
    for (;;) {
      // Local reads are synchronous: yield to the event loop.
      if (turn.isSpent) await turn.next();
      if (page.status !== 'ok') return undefined;
      for (const entry of page.entries) {
        const object = this.objectOf(entry);
        if (this.#byKey.get(entry.key) !== object) this.#memory?.[past === undefined ? 'hold' : 'remember'](object);
        keys.push(entry.key);
        objects.push(object);
      }
      const { revision } = page;
      if (!page.more || page.entries.length === 0) return { revision, objects: snapshotOf(keys, objects) };
      page = await store.range({ ...request, start: keyAfter(keys.at(-1)!), revision });
    }
  }

  #showAndFollow({ revision, objects }: CacheState): Promise<void> {
    const before = new Map(this.#byKey);
    this.#loading = [];
    this.#sorted = objects;
    this.#byKey.clear();
    this.#unsorted.clear();
    objects.visit(undefined, (key, object) => {
      this.#byKey.set(key, object);
      return true;
    });
    for (const [key, object] of before) if (this.#byKey.get(key) !== object) this.#memory?.release(object);
    this.#followers.replace(before, this.#byKey);
    this.#advance(revision);
    this.#ring.restart(revision);
    return this.#catchUp(this.#follow(revision + 1));
  }

  /** A local store delivers new writes before they are acknowledged, but earlier ones asynchronously. */
  async #catchUp(watch: WatchHandle): Promise<void> {
    const { store } = this.#options;
    if (store.localReads) {
      const revision = await store.revision();
      if (revision > this.#revision && this.#watch === watch && watch.requestProgress()) await this.reached(revision);
    }
    if (this.#watch === watch) this.#isCurrent = true;
  }

  #follow(fromRevision: number): WatchHandle {
    const { store, prefix, logger } = this.#options;
    let isOver = false;
    const watch = store.watch(
      { prefix, fromRevision, progress: !store.localReads },
      {
        events: (batch, revision) => {
          for (const event of batch) this.#apply(event);
          this.#advance(revision);
        },
        progress: (revision) => this.#advance(revision),
        end: (reason) => {
          isOver = true;
          if (reason.code === 'closed') return this.close();
          logger.warn('the watch on the store ended; reading the resource again', { prefix, reason: reason.code });
          this.#restart();
        },
      },
    );
    if (!isOver) this.#watch = watch;
    return watch;
  }

  /** Events were lost: nothing is served until the reload, and all watches are ended. */
  #restart(): void {
    this.#watch = undefined;
    this.#isCurrent = false;
    this.#started = undefined;
    if (!this.#isReloading) void this.#reload();
    this.#scopes.end('expired');
  }

  /** Never rejects: tries again until it succeeds, or the cache is closed. */
  async #reload(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#isReloading = true;
    this.#breaks = clock.monotonic() - this.#brokeAt < STABLE_MS ? this.#breaks + 1 : 0;
    this.#brokeAt = clock.monotonic();
    for (let failures = this.#breaks; !this.#isCurrent && !this.#closed.signal.aborted; failures++) {
      try {
        if (failures > 0) await clock.sleep(backoffDelay(RELOAD_BACKOFF, failures - 1), this.#closed.signal);
        this.#started = this.#load();
        await this.#started;
      } catch (error) {
        this.#started = undefined;
        if (!this.#closed.signal.aborted) logger.error('cannot read the resource; trying again', { prefix: this.prefix, error });
      }
    }
    this.#isReloading = false;
  }

  #decode(key: string, value: Uint8Array, revision: number): CachedObject {
    const { encoding, repair } = this.#options;
    const stored = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    try {
      const { object, bytes } = this.#reader.decode(key, stored);
      const fitted = repair?.fit(object, key);
      if (fitted === undefined || fitted.object === object)
        return CachedObject.of(key, revision, StoredObject.read(object, encoding, bytes), this.#reader);
      if (fitted.error !== undefined) repair?.report(key, fitted.error);
      const repaired = StoredObject.read(fitted.object, encoding, encoding.encodeStored(fitted.object).bytes);
      return CachedObject.of(key, revision, repaired, this.#repairing);
    } catch (error) {
      throw new Error(`cannot read ${key}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Writes of this server are used without decoding; those of other servers or older definitions are decoded. */
  #objectPut(event: StoreEvent): CachedObject {
    const { key, written, modRevision } = event;
    const isOwn = written instanceof StoredObject && written.encoding === this.#options.encoding;
    // Reading the value would encode it.
    return isOwn ? CachedObject.of(key, modRevision, written, this.#reader) : this.#decode(key, event.value!, modRevision);
  }

  #apply(event: StoreEvent): void {
    const previous = this.#byKey.get(event.key);
    const { key } = event;
    if (event.type === 'put') {
      const object = this.#objectPut(event);
      this.#byKey.set(key, object);
      this.#unsorted.add(key);
      this.#publish(new CacheEvent(object, previous, false));
      if (previous !== undefined) this.#memory?.release(previous);
      this.#memory?.hold(object);
    } else if (previous !== undefined) {
      this.#byKey.delete(key);
      this.#unsorted.add(key);
      this.#memory?.release(previous);
      this.#publish(new CacheEvent(previous.at(event.modRevision), previous, true));
    }
  }

  #publish(event: CacheEvent): void {
    this.#revision = event.revision;
    this.#ring.push(event);
    this.#followers.deliver(event);
    this.#scopes.deliver(event);
  }

  #advance(revision: number): void {
    if (revision > this.#revision) this.#revision = revision;
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter((waiter) => waiter.revision <= this.#revision);
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > this.#revision);
    for (const waiter of due) waiter.resolve();
  }
}

/** The state as ADDED frames, page by page. */
function* stateFrames(snapshot: Snapshot, { prefix, matches }: WatchFilter): Generator<WatchFrame> {
  for (let start: string | undefined = prefix; start !== undefined; ) {
    const page = listFrom(snapshot, prefix, { start, limit: PAGE });
    for (const object of page) if (matches === undefined || matches(object.object)) yield initialFrame(object);
    start = page.length < PAGE ? undefined : keyAfter(page[PAGE - 1]!.key);
  }
}

function* eventFrames(events: readonly CacheEvent[], scope: WatchScope): Generator<WatchFrame> {
  for (const event of events) {
    const frame = scope.frameFor(event);
    if (frame !== undefined) yield frame;
  }
}

/** Upstream's error while its cache is not ready; clients retry. */
function reinitializing(): StatusError {
  return StatusError.tooManyRequests('storage is (re)initializing', 1);
}

function closedError(prefix: string): Error {
  return new Error(`the cache of ${prefix} is closed`);
}

function snapshotOf(keys: readonly string[], objects: readonly CachedObject[]): Snapshot {
  return isSorted(keys) ? PersistentMap.fromSorted(unitOrder, keys, objects) : inserted(keys, objects);
}

/** Stores sort keys by code points, caches by code units: nearly always the same. */
function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (unitOrder(keys[i - 1]!, keys[i]!) >= 0) return false;
  return true;
}

function inserted(keys: readonly string[], objects: readonly CachedObject[]): Snapshot {
  let sorted: Snapshot = PersistentMap.empty<string, CachedObject>(unitOrder);
  for (let i = 0; i < keys.length; i++) sorted = sorted.set(keys[i]!, objects[i]!);
  return sorted;
}

/** The objects of a snapshot below `prefix`, from `start`, in key order. */
export function listFrom(snapshot: Snapshot, prefix: string, { start = prefix, limit = Number.POSITIVE_INFINITY } = {}): CachedObject[] {
  const objects: CachedObject[] = [];
  snapshot.visit(start, (key, object) => {
    if (!key.startsWith(prefix)) return false;
    objects.push(object);
    return objects.length < limit;
  });
  return objects;
}
