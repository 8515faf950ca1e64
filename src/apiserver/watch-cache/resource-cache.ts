import type { Logger } from '#base';
import { type Entry, PersistentMap, type Store, type WatchEvent as StoreEvent, unitOrder, type WatchHandle } from '#store';
import type { KubeObject } from '../registry/kube-object.ts';
import { CachedObject } from './cached-object.ts';
import { type ObjectEncoding, StoredObject } from './object-encoding.ts';
import { CacheEvent, initialFrame, type WatchFilter, WatchScope, type WatchSink } from './watcher.ts';

export interface ResourceCacheOptions {
  readonly store: Store;
  /** Keys of the resource begin with it: `/registry/pods/`. */
  readonly prefix: string;
  readonly encoding: ObjectEncoding;
  readonly logger: Logger;
  /** Brings an object that was stored under older rules in line with today's. Returns the same object when it is. */
  readonly revive?: (object: KubeObject) => KubeObject;
  /** The field whose exact value watchers most often ask for (`spec.nodeName`): events find those watchers without asking the others. */
  readonly trigger?: (object: KubeObject) => string;
  /** What the store holds under the prefix, when that is known already. */
  readonly initial?: CacheState;
}

/** The objects of a resource right after a revision. */
export interface CacheState {
  readonly revision: number;
  readonly objects: Snapshot;
}

/** How many past events a new watcher can start from. */
const RING_CAPACITY = 1024;
const KEPT_SNAPSHOTS = 16;
/** When more than one in so many objects changed, sorting all anew is cheaper. */
const MANY = 8;

export type Snapshot = PersistentMap<string, CachedObject>;

/** All objects of one resource, kept current by one watch on the store; see SPEC.md. */
export class ResourceCache {
  readonly #options: ResourceCacheOptions;
  readonly #byKey = new Map<string, CachedObject>();
  /** All but what changed since somebody last asked for the objects in order: in between, sorting would be for nobody. */
  #sorted: Snapshot = PersistentMap.empty<string, CachedObject>(unitOrder);
  readonly #unsorted = new Set<string>();
  #revision = 0;
  /** Events after `#ringStart`, oldest first; the first `#ringHead` slots are spent. */
  #ring: CacheEvent[] = [];
  #ringHead = 0;
  #ringStart = 0;
  readonly #scopes = new Map<string, WatchScope>();
  readonly #general = new Set<WatchScope>();
  readonly #triggered = new Map<string, Set<WatchScope>>();
  #waiters: { revision: number; resolve: () => void }[] = [];
  /** States that clients are paging through, by revision, the oldest first. */
  readonly #snapshots = new Map<number, Snapshot>();
  #watch: WatchHandle | undefined;
  #started: Promise<void> | undefined;
  #isCurrent = false;
  #closed = false;

  constructor(options: ResourceCacheOptions) {
    this.#options = options;
    if (options.initial !== undefined) this.#started = this.#showAndFollow(options.initial);
  }

  get prefix(): string {
    return this.#options.prefix;
  }

  /** The last revision of the store that this cache reflects. */
  get revision(): number {
    return this.#revision;
  }

  /** Loads the resource the first time; then resolves at once. */
  start(): Promise<void> {
    this.#started ??= this.#load().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  /** Whether the watch has caught up with what was written while the resource was read. */
  get isStarted(): boolean {
    return this.#isCurrent;
  }

  /** Resolves once every write acknowledged before the call is in the cache. */
  async fresh(): Promise<void> {
    if (!this.isStarted) await this.start();
    const revision = await this.#options.store.revision();
    if (this.#options.store.localReads) this.#advance(revision);
    else if (revision > this.#revision) await (this.#watch?.requestProgress() ? this.reached(revision) : this.#confirm());
  }

  /** For stores that cannot tell how far a watch has come: compares what is there with what the cache has until both are the same. */
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

  /** An entry of the store, as the cache has it or as it would. */
  objectOf({ key, value, modRevision }: Entry): CachedObject {
    const cached = this.#byKey.get(key);
    return cached?.revision === modRevision ? cached : this.#decode(key, value, modRevision);
  }

  /** Resolves when the cache has reached `revision`. */
  reached(revision: number): Promise<void> {
    if (this.#revision >= revision) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push({ revision, resolve });
      this.#watch?.requestProgress();
    });
  }

  get(key: string): CachedObject | undefined {
    return this.#byKey.get(key);
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The state of this moment; it never changes. */
  snapshot(): Snapshot {
    if (this.#unsorted.size * MANY > this.#byKey.size) this.#sortAll();
    else for (const key of this.#unsorted) this.#sort(key);
    this.#unsorted.clear();
    return this.#sorted;
  }

  #sort(key: string): void {
    const object = this.#byKey.get(key);
    this.#sorted = object === undefined ? this.#sorted.delete(key) : this.#sorted.set(key, object);
  }

  #sortAll(): void {
    const keys = [...this.#byKey.keys()].sort(unitOrder);
    this.#sorted = PersistentMap.fromSorted(
      unitOrder,
      keys,
      keys.map((key) => this.#byKey.get(key)!),
    );
  }

  /** Remembers a state that a client pages through. */
  keepSnapshot(revision: number, snapshot: Snapshot): void {
    this.#snapshots.delete(revision);
    this.#snapshots.set(revision, snapshot);
    if (this.#snapshots.size > KEPT_SNAPSHOTS) this.#snapshots.delete(this.#snapshots.keys().next().value!);
  }

  /** The state right after `revision`; undefined when that is no longer known. */
  async snapshotAt(revision: number): Promise<Snapshot | undefined> {
    const kept = this.#snapshots.get(revision);
    if (kept !== undefined) return kept;
    const page = await this.#options.store.range({ prefix: this.prefix, revision });
    if (page.status !== 'ok') return undefined;
    const snapshot = this.#snapshotOf(page.entries);
    this.keepSnapshot(revision, snapshot);
    return snapshot;
  }

  #snapshotOf(entries: readonly Entry[]): Snapshot {
    const keys = entries.map(({ key }) => key);
    const objects = entries.map((entry) => this.objectOf(entry));
    return isSorted(keys) ? PersistentMap.fromSorted(unitOrder, keys, objects) : inserted(keys, objects);
  }

  /** Every object whose key begins with `prefix`, in key order. */
  *objects(prefix = this.prefix): Iterable<CachedObject> {
    yield* listFrom(this.snapshot(), prefix);
  }

  /** The oldest revision a watch can start after. */
  get oldestRevision(): number {
    return this.#ringStart;
  }

  /**
   * Delivers every event after `since` to the sink, then all that follow. With `since` undefined the current state comes first, as additions.
   * Returns undefined when events after `since` are no longer known.
   */
  watch(filter: WatchFilter, sink: WatchSink, start: { since?: number; initialEventsEnd?: boolean }): (() => void) | undefined {
    if (start.since !== undefined && start.since < this.#ringStart) return undefined;
    const scope = this.#scopeFor(filter);
    if (start.since === undefined) this.#replayState(scope, sink, start.initialEventsEnd === true);
    else this.#replayEvents(scope, sink, start.since);
    if (this.#closed) {
      sink.end('closed');
      return () => {};
    }
    scope.sinks.add(sink);
    return () => this.#leave(scope, sink);
  }

  close(): void {
    this.#closed = true;
    this.#watch?.cancel();
    for (const scope of this.#scopes.values()) for (const sink of scope.sinks) sink.end('closed');
    this.#scopes.clear();
    this.#general.clear();
    this.#triggered.clear();
  }

  async #load(): Promise<void> {
    const { store, prefix } = this.#options;
    const page = await store.range({ prefix });
    if (page.status !== 'ok') throw new Error(`cannot read ${prefix}: history up to revision ${page.compactRevision} is gone`);
    await this.#showAndFollow({ revision: page.revision, objects: this.#snapshotOf(page.entries) });
  }

  #showAndFollow({ revision, objects }: CacheState): Promise<void> {
    this.#sorted = objects;
    this.#byKey.clear();
    this.#unsorted.clear();
    objects.visit(undefined, (key, object) => {
      this.#byKey.set(key, object);
      return true;
    });
    this.#advance(revision);
    this.#ring = [];
    this.#ringHead = 0;
    this.#ringStart = revision;
    this.#follow(revision + 1);
    return this.#catchUp();
  }

  /** A local store tells of new writes before they are acknowledged, but of those before the watch only a little later. */
  async #catchUp(): Promise<void> {
    const { store } = this.#options;
    const watch = this.#watch;
    if (store.localReads) {
      const revision = await store.revision();
      if (revision > this.#revision && watch?.requestProgress()) await this.reached(revision);
    }
    if (this.#watch === watch) this.#isCurrent = true;
  }

  #follow(fromRevision: number): void {
    const { store, prefix, logger } = this.#options;
    this.#watch = store.watch(
      { prefix, fromRevision, progress: !store.localReads },
      {
        events: (batch, revision) => {
          for (const event of batch) this.#apply(event);
          this.#advance(revision);
        },
        progress: (revision) => this.#advance(revision),
        end: (reason) => {
          if (reason.code === 'closed') return this.close();
          logger.warn('the watch on the store ended; reading the resource again', { prefix, reason: reason.code });
          this.#restart();
        },
      },
    );
  }

  /** What happened in between is unknown, so every watcher starts over too. */
  #restart(): void {
    for (const scope of this.#scopes.values()) for (const sink of scope.sinks) sink.end('expired');
    this.#scopes.clear();
    this.#general.clear();
    this.#triggered.clear();
    this.#watch = undefined;
    this.#isCurrent = false;
    this.#started = undefined;
    this.start().catch((error: unknown) => this.#options.logger.error('cannot read the resource', { prefix: this.prefix, error }));
  }

  #decode(key: string, value: Uint8Array, revision: number): CachedObject {
    const { encoding, revive } = this.#options;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const parsed = JSON.parse(bytes.toString('utf8')) as KubeObject;
    const object = revive?.(parsed) ?? parsed;
    return CachedObject.of(
      key,
      revision,
      object === parsed ? StoredObject.read(object, encoding, bytes) : StoredObject.of(object, encoding),
    );
  }

  /** What was written through this server is known as it is; what another cluster or an older definition wrote is not. */
  #objectPut(event: StoreEvent): CachedObject {
    const { key, written, modRevision } = event;
    const isOwn = written instanceof StoredObject && written.encoding === this.#options.encoding;
    // Only to read the value is to have its bytes made.
    return isOwn ? CachedObject.of(key, modRevision, written) : this.#decode(key, event.value!, modRevision);
  }

  #apply(event: StoreEvent): void {
    const previous = this.#byKey.get(event.key);
    const { key } = event;
    if (event.type === 'put') {
      const object = this.#objectPut(event);
      this.#byKey.set(key, object);
      this.#unsorted.add(key);
      this.#publish(new CacheEvent(object, previous, false));
    } else if (previous !== undefined) {
      this.#byKey.delete(key);
      this.#unsorted.add(key);
      this.#publish(new CacheEvent(previous.at(event.modRevision), previous, true));
    }
  }

  #publish(event: CacheEvent): void {
    this.#revision = event.revision;
    this.#remember(event);
    for (const scope of this.#general) scope.deliver(event);
    if (this.#triggered.size > 0) this.#deliverTriggered(event);
  }

  #deliverTriggered(event: CacheEvent): void {
    const now = this.#options.trigger!(event.object.object);
    const before = event.previous && this.#options.trigger!(event.previous.object);
    for (const scope of this.#triggered.get(now) ?? []) scope.deliver(event);
    if (before === undefined || before === now) return;
    for (const scope of this.#triggered.get(before) ?? []) scope.deliver(event);
  }

  #remember(event: CacheEvent): void {
    this.#ring.push(event);
    if (this.#ring.length - this.#ringHead <= RING_CAPACITY) return;
    this.#ringStart = this.#ring[this.#ringHead]!.revision;
    this.#ring[this.#ringHead++] = undefined as never;
    if (this.#ringHead < RING_CAPACITY) return;
    this.#ring = this.#ring.slice(this.#ringHead);
    this.#ringHead = 0;
  }

  #advance(revision: number): void {
    if (revision > this.#revision) this.#revision = revision;
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter((waiter) => waiter.revision <= this.#revision);
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > this.#revision);
    for (const waiter of due) waiter.resolve();
  }

  #scopeFor(filter: WatchFilter): WatchScope {
    let scope = this.#scopes.get(filter.key);
    if (scope !== undefined) return scope;
    scope = new WatchScope(filter);
    this.#scopes.set(filter.key, scope);
    const peers = this.#peersOf(filter);
    peers.add(scope);
    return scope;
  }

  #peersOf({ trigger }: WatchFilter): Set<WatchScope> {
    if (trigger === undefined || this.#options.trigger === undefined) return this.#general;
    let peers = this.#triggered.get(trigger);
    if (peers === undefined) {
      peers = new Set();
      this.#triggered.set(trigger, peers);
    }
    return peers;
  }

  #leave(scope: WatchScope, sink: WatchSink): void {
    scope.sinks.delete(sink);
    if (scope.sinks.size > 0 || this.#scopes.get(scope.filter.key) !== scope) return;
    this.#scopes.delete(scope.filter.key);
    const peers = this.#peersOf(scope.filter);
    peers.delete(scope);
    if (peers !== this.#general && peers.size === 0) this.#triggered.delete(scope.filter.trigger!);
  }

  #replayState(scope: WatchScope, sink: WatchSink, initialEventsEnd: boolean): void {
    const { prefix, matches } = scope.filter;
    for (const object of listFrom(this.snapshot(), prefix)) {
      if (matches === undefined || matches(object.object)) sink.frame(initialFrame(object));
    }
    if (initialEventsEnd) sink.bookmark(this.#revision, true);
  }

  #replayEvents(scope: WatchScope, sink: WatchSink, since: number): void {
    for (let i = this.#ringHead; i < this.#ring.length; i++) {
      const event = this.#ring[i]!;
      const frame = event.revision > since ? scope.frameFor(event) : undefined;
      if (frame !== undefined) sink.frame(frame);
    }
  }
}

/** Stores order keys by code points, caches by code units: nearly always the same. */
function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (unitOrder(keys[i - 1]!, keys[i]!) >= 0) return false;
  return true;
}

function inserted(keys: readonly string[], objects: readonly CachedObject[]): Snapshot {
  let sorted: Snapshot = PersistentMap.empty<string, CachedObject>(unitOrder);
  for (let i = 0; i < keys.length; i++) sorted = sorted.set(keys[i]!, objects[i]!);
  return sorted;
}

/** Every object of a snapshot whose key begins with `prefix`, from `start` on, in key order. */
export function listFrom(snapshot: Snapshot, prefix: string, start = prefix): CachedObject[] {
  const objects: CachedObject[] = [];
  snapshot.visit(start, (key, object) => {
    if (!key.startsWith(prefix)) return false;
    objects.push(object);
    return true;
  });
  return objects;
}
