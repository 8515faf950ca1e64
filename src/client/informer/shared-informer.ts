import { Backoff, type Clock, type Logger, type MetricsRegistry, onAbort, type Random } from '#base';
import { isStatusReason, StatusError } from '#machinery';
import type { EventRecorder, EventTarget } from '../events/event-recorder.ts';
import type { Identified } from '../kube-object.ts';
import { keyOf } from '../kube-object.ts';
import { Quarantine } from '../quarantine.ts';
import type { ResourceClient, Selection } from '../resource-client.ts';
import type { WatchEventType, WatchSink } from '../transport.ts';
import { type IndexFunction, type Lister, ObjectCache } from './object-cache.ts';

/** Called synchronously after the cache is updated. */
export interface InformerHandler<T> {
  /** `isInInitialList`: it existed before the handler or the informer was started. */
  add?(object: T, isInInitialList: boolean): void;
  update?(before: T, after: T): void;
  /** With the last observed state, which may not be the final one if the watch was interrupted. */
  delete?(object: T): void;
}

export interface InformerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Handler failures are counted here, and recorded as events on the object. */
  readonly metrics?: MetricsRegistry;
  readonly recorder?: EventRecorder;
}

export interface InformerOptions extends Selection {
  /** Only the objects' metadata is needed. */
  readonly metadataOnly?: boolean;
}

/** Upstream's reflector backoff: 800 ms doubling to 30 s, doubled by jitter, reset after two minutes without failures. */
const BACKOFF = { initialMs: 800, maxMs: 30_000, jitter: 1 };
const BACKOFF_RESET_MS = 120_000;
const MIN_WATCH_SECONDS = 300;
const PAGE_SIZE = 500;

/**
 * Maintains a cache of selected objects (list, then watch) and notifies handlers. In-process the objects are shared with the
 * server.
 */
export class SharedInformer<T extends Identified> {
  readonly #client: ResourceClient<T>;
  readonly #options: InformerOptions;
  readonly #deps: InformerDeps;
  readonly #cache: ObjectCache<T> = new ObjectCache<T>((object, error) => this.#failed(object, error));
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #backoff: Backoff;
  readonly #syncedPromise: Promise<void>;
  #resolveSynced: () => void = () => {};
  #rejectSynced: (reason: unknown) => void = () => {};
  #lastFailure = -Infinity;
  /** Created on the first handler failure. */
  #quarantine: Quarantine | undefined;
  #failures = 0;
  #hasSynced = false;
  #resourceVersion = '';
  readonly #ending = new AbortController();
  #isStarted = false;
  #endWatch: (() => void) | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(client: ResourceClient<T>, deps: InformerDeps, options: InformerOptions = {}) {
    this.#client = client;
    this.#deps = deps;
    this.#options = options;
    this.#backoff = new Backoff(BACKOFF, deps.random);
    this.#syncedPromise = new Promise((resolve, reject) => {
      this.#resolveSynced = resolve;
      this.#rejectSynced = reject;
    });
    // The promise need not be awaited.
    this.#syncedPromise.catch(() => {});
  }

  get lister(): Lister<T> {
    return this.#cache;
  }

  /** The cache has the initial state, and all handlers were called with it. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves when `hasSynced`; rejects when the informer is stopped first. */
  get synced(): Promise<void> {
    return this.#syncedPromise;
  }

  /** The last observed resource version. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** There are handlers. */
  get hasHandlers(): boolean {
    return this.#handlers.size > 0;
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): this {
    this.#cache.addIndex(name, valuesOf);
    return this;
  }

  /** Calls the handler for all cached objects first. Dispose of the result to remove it. */
  addHandler(handler: InformerHandler<T>): Disposable {
    this.#handlers.add(handler);
    for (const object of this.#cache.list()) this.#notify(handler, { after: object, isInInitialList: true });
    return { [Symbol.dispose]: () => void this.#handlers.delete(handler) };
  }

  /** Starts, until the signal aborts or it is stopped. No effect on a running informer. */
  start(signal: AbortSignal): void {
    if (this.#isStarted) return;
    const registration = onAbort(signal, (reason) => this.abort(reason));
    this.begin();
    this.#done = this.#done.finally(() => registration[Symbol.dispose]());
  }

  /** Like `start`, but stopped only by its owner: avoids one abort listener per informer. */
  begin(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#done = this.#run();
  }

  /** Stops without waiting. */
  abort(reason: unknown): void {
    this.#ending.abort(reason);
    this.#endWatch?.();
  }

  /** Stops; resolves when everything is closed. */
  async stop(reason: unknown = new DOMException('the informer was stopped', 'AbortError')): Promise<void> {
    if (!this.#ending.signal.aborted) this.abort(reason);
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    await this.#followAlways(signal);
    if (!this.#hasSynced) this.#rejectSynced(new DOMException('the informer was stopped before it had synced', 'AbortError'));
  }

  async #followAlways(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (!this.#watchesFirst) await this.#list(signal);
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#pause(error, signal);
      }
    }
  }

  /** In-process, the watch delivers the initial state synchronously: one request instead of two. */
  get #watchesFirst(): boolean {
    return this.#client.isLocal && this.#resourceVersion === '';
  }

  /** Repeats the watch from the last revision. Returns when the state must be listed again. */
  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const before = this.#resourceVersion;
      const started = this.#deps.clock.monotonic();
      const end = await this.#watch(signal);
      if (end.type === 'expired') return;
      if (end.type === 'error') await this.#pause(end.error, signal);
      // Backoff: a server may end every watch immediately.
      else if (!signal.aborted && before === this.#resourceVersion && this.#deps.clock.monotonic() - started < 1000) {
        await this.#pause(new Error('very short watch: no event was received'), signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { namespace, labelSelector, fieldSelector, metadataOnly = false } = this.#options;
    const selection = { namespace, labelSelector, fieldSelector, metadataOnly, signal };
    // The first list may come from the server's cache; after a gap it must be consistent.
    const list =
      this.#resourceVersion === '' ? await this.#client.list({ ...selection, resourceVersion: '0' }) : await this.#relist(selection);
    signal.throwIfAborted();
    this.#replaceAll(list.items, list.metadata.resourceVersion);
  }

  #replaceAll(items: readonly T[], resourceVersion: string): void {
    this.#replace(items);
    this.#resourceVersion = resourceVersion;
    this.#markSynced();
  }

  #relist(selection: Parameters<ResourceClient<T>['listAll']>[0]) {
    return this.#client.isLocal ? this.#client.list(selection) : this.#client.listAll({ ...selection, limit: PAGE_SIZE });
  }

  #markSynced(): void {
    if (this.#hasSynced) return;
    this.#hasSynced = true;
    this.#resolveSynced();
  }

  #watch(signal: AbortSignal): Promise<WatchEnd> {
    const { namespace, labelSelector, fieldSelector, metadataOnly = false } = this.#options;
    const timeout = this.#client.isLocal ? {} : { timeoutSeconds: Math.floor(MIN_WATCH_SECONDS * (1 + this.#deps.random.float())) };
    return new Promise((resolve) => {
      let watch: Disposable | undefined;
      const finish = (end: WatchEnd) => {
        watch?.[Symbol.dispose]();
        this.#endWatch = undefined;
        resolve(end);
      };
      const stop = () => finish({ type: 'ended' });
      this.#endWatch = stop;
      const options = { namespace, labelSelector, fieldSelector, metadataOnly, ...timeout, allowWatchBookmarks: true };
      watch = this.#watchesFirst
        ? this.#client.watchInto({ ...options, sendInitialEvents: true }, this.#initialSink(finish))
        : this.#client.watchInto({ ...options, resourceVersion: this.#resourceVersion }, this.#sink(finish));
      if (signal.aborted) stop();
    });
  }

  #sink(finish: (end: WatchEnd) => void): WatchSink<T> {
    return {
      event: (type, object) => this.#apply(type, object),
      bookmark: (resourceVersion) => {
        this.#resourceVersion = resourceVersion;
      },
      error: (error) => finish(isExpired(error) ? { type: 'expired' } : { type: 'error', error }),
      end: () => finish({ type: 'ended' }),
    };
  }

  /** Events before the initial-events-end bookmark form a list. */
  #initialSink(finish: (end: WatchEnd) => void): WatchSink<T> {
    const sink = this.#sink(finish);
    let listed: T[] | undefined = [];
    return {
      ...sink,
      event: (type, object) => (listed === undefined ? sink.event(type, object) : void listed.push(object)),
      bookmark: (resourceVersion, initialEventsEnd) => {
        if (listed !== undefined && initialEventsEnd) {
          this.#replaceAll(listed, resourceVersion);
          listed = undefined;
        } else if (listed === undefined) sink.bookmark(resourceVersion, initialEventsEnd);
      },
    };
  }

  #apply(type: WatchEventType, object: T): void {
    this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion;
    if (type === 'DELETED') this.#remove(keyOf(object), object);
    else this.#put(object);
  }

  #put(object: T, isInInitialList = false): void {
    const failuresBefore = this.#failures;
    const previous = this.#cache.set(object);
    // The same name with another uid is another object: deleted and recreated while the watch was down.
    const isReplaced = previous !== undefined && previous.metadata.uid !== object.metadata.uid;
    for (const handler of this.#handlers) {
      if (isReplaced) this.#notify(handler, { before: previous });
      this.#notify(handler, { before: isReplaced ? undefined : previous, after: object, isInInitialList });
    }
    if (this.#failures === failuresBefore) this.#quarantine?.succeeded(keyOf(object));
  }

  #remove(key: string, last: T | undefined): void {
    const previous = this.#cache.delete(key);
    if (previous === undefined) return;
    for (const handler of this.#handlers) this.#notify(handler, { before: last ?? previous });
    this.#quarantine?.succeeded(key);
  }

  /** Replaces the cache with a list and notifies handlers of the differences. */
  #replace(items: readonly T[]): void {
    if (this.#cache.size === 0) {
      for (const object of items) this.#put(object, !this.#hasSynced);
      return;
    }
    const present = new Set(items.map(keyOf));
    for (const key of [...this.#cache.keys()]) if (!present.has(key)) this.#remove(key, undefined);
    for (const object of items) {
      const cached = this.#cache.getByKey(keyOf(object));
      if (cached === undefined || cached.metadata.resourceVersion !== object.metadata.resourceVersion || !cached.metadata.resourceVersion) {
        this.#put(object, !this.#hasSynced);
      }
    }
  }

  /** An error in one handler does not affect the others. */
  #notify(handler: InformerHandler<T>, { before, after, isInInitialList = false }: Change<T>): void {
    try {
      if (after === undefined) handler.delete?.(before!);
      else if (before === undefined) handler.add?.(after, isInInitialList);
      else handler.update?.(before, after);
    } catch (error) {
      this.#failed(after ?? before!, error);
    }
  }

  #failed(object: T, error: unknown): void {
    this.#failures++;
    this.#quarantine ??= new Quarantine('informer', this.#deps);
    this.#quarantine.failed({ key: keyOf(object), error, isFinal: true, about: () => this.#reference(object) });
  }

  /** Deleted objects and those of other clients may lack their kind. */
  #reference(object: T): EventTarget | undefined {
    return object.kind === undefined ? undefined : object;
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    if (clock.monotonic() - this.#lastFailure > BACKOFF_RESET_MS) this.#backoff.reset();
    this.#lastFailure = clock.monotonic();
    const { resource } = this.#client.ref;
    // The CRD was deleted: the informer's owner stops it after discovery.
    if (isStatusReason(error, 'NotFound')) logger.debug('the resource is not served; trying again', { resource });
    else logger.warn('cannot watch a resource; trying again', { resource, error });
    const retryAfterMs = error instanceof StatusError ? error.retryAfterSeconds * 1000 : 0;
    await clock.sleep(Math.max(this.#backoff.next(), retryAfterMs), signal).catch(() => {});
  }
}

interface Change<T> {
  readonly before?: T | undefined;
  readonly after?: T;
  readonly isInInitialList?: boolean;
}

type WatchEnd = { readonly type: 'ended' | 'expired' } | { readonly type: 'error'; readonly error: unknown };

function isExpired(error: unknown): boolean {
  return error instanceof StatusError && (error.reason === 'Expired' || error.reason === 'Gone' || error.code === 410);
}
