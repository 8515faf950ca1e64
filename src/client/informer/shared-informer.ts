import { Backoff, type Clock, type Logger, onAbort, type Random } from '#base';
import { StatusError } from '#machinery';
import type { Identified } from '../kube-object.ts';
import { keyOf } from '../kube-object.ts';
import type { ResourceClient, Selection } from '../resource-client.ts';
import type { WatchEventType, WatchSink } from '../transport.ts';
import { type IndexFunction, type Lister, ObjectCache } from './object-cache.ts';

/** Told of each change, synchronously, after the cache shows it. */
export interface InformerHandler<T> {
  /** `isInInitialList`: it was there before the handler or the informer began. */
  add?(object: T, isInInitialList: boolean): void;
  update?(before: T, after: T): void;
  /** With the last state that was seen: when the watch was away during the deletion, that may not be the very last one. */
  delete?(object: T): void;
}

export interface InformerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface InformerOptions extends Selection {
  /** Objects need only their metadata. */
  readonly metadataOnly?: boolean;
}

/** Upstream's reflector: 800 ms doubling to 30 s, up to twice that by jitter, from the start again after two quiet minutes. */
const BACKOFF = { initialMs: 800, maxMs: 30_000, jitter: 1 };
const BACKOFF_RESET_MS = 120_000;
const MIN_WATCH_SECONDS = 300;
const PAGE_SIZE = 500;

/**
 * Keeps a copy of a selection of objects current (list, then watch) and tells any number of listeners of its changes. In one process with
 * the server, the objects are the server's own.
 */
export class SharedInformer<T extends Identified> {
  readonly #client: ResourceClient<T>;
  readonly #options: InformerOptions;
  readonly #deps: InformerDeps;
  readonly #cache = new ObjectCache<T>();
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #backoff: Backoff;
  readonly #syncedPromise: Promise<void>;
  #resolveSynced: () => void = () => {};
  #rejectSynced: (reason: unknown) => void = () => {};
  #lastFailure = -Infinity;
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
    // Nobody needs to wait for it.
    this.#syncedPromise.catch(() => {});
  }

  get lister(): Lister<T> {
    return this.#cache;
  }

  /** The cache shows a state that the server was in, and every handler knows of it. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves when `hasSynced`; rejects when the informer is stopped before. */
  get synced(): Promise<void> {
    return this.#syncedPromise;
  }

  /** How far the informer has followed. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** Somebody still listens. */
  get hasHandlers(): boolean {
    return this.#handlers.size > 0;
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): this {
    this.#cache.addIndex(name, valuesOf);
    return this;
  }

  /** What is known already is told at once. Dispose of the result to be told no more. */
  addHandler(handler: InformerHandler<T>): Disposable {
    this.#handlers.add(handler);
    for (const object of this.#cache.list()) this.#tell(handler, { after: object, isInInitialList: true });
    return { [Symbol.dispose]: () => void this.#handlers.delete(handler) };
  }

  /** Begins to follow, until the signal aborts or it is stopped. Starting a running informer changes nothing. */
  start(signal: AbortSignal): void {
    if (this.#isStarted) return;
    const registration = onAbort(signal, (reason) => this.abort(reason));
    this.begin();
    this.#done = this.#done.finally(() => registration[Symbol.dispose]());
  }

  /** As `start`, for an owner who aborts it: of many informers, each would listen to the same signal. */
  begin(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#done = this.#run();
  }

  /** Follows no more. */
  abort(reason: unknown): void {
    this.#ending.abort(reason);
    this.#endWatch?.();
  }

  /** Stops following; resolves when nothing is left open. */
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

  /** In one process with the server, the watch itself begins with the state, all at once: one question instead of two. */
  get #watchesFirst(): boolean {
    return this.#client.isLocal && this.#resourceVersion === '';
  }

  /** Watches again and again from where the last watch stopped. Returns when the state must be read anew. */
  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const before = this.#resourceVersion;
      const started = this.#deps.clock.monotonic();
      const end = await this.#watch(signal);
      if (end.type === 'expired') return;
      if (end.type === 'error') await this.#pause(end.error, signal);
      // A server that ends every watch at once would otherwise be asked without pause.
      else if (!signal.aborted && before === this.#resourceVersion && this.#deps.clock.monotonic() - started < 1000) {
        await this.#pause(new Error('very short watch: no event was received'), signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { namespace, labelSelector, fieldSelector, metadataOnly = false } = this.#options;
    const selection = { namespace, labelSelector, fieldSelector, metadataOnly, signal };
    // The first state may come from the server's cache; after a gap it must not be older than what was seen, so it is read afresh.
    const list =
      this.#resourceVersion === '' ? await this.#client.list({ ...selection, resourceVersion: '0' }) : await this.#relist(selection);
    signal.throwIfAborted();
    this.#shows(list.items, list.metadata.resourceVersion);
  }

  #shows(items: readonly T[], resourceVersion: string): void {
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

  /** What comes before the end of the initial events is a list. */
  #initialSink(finish: (end: WatchEnd) => void): WatchSink<T> {
    const sink = this.#sink(finish);
    let listed: T[] | undefined = [];
    return {
      ...sink,
      event: (type, object) => (listed === undefined ? sink.event(type, object) : void listed.push(object)),
      bookmark: (resourceVersion, initialEventsEnd) => {
        if (listed !== undefined && initialEventsEnd) {
          this.#shows(listed, resourceVersion);
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
    const previous = this.#cache.set(object);
    // The same name with another identity is another object: deleted and created again while nobody watched.
    const isReplaced = previous !== undefined && previous.metadata.uid !== object.metadata.uid;
    for (const handler of this.#handlers) {
      if (isReplaced) this.#tell(handler, { before: previous });
      this.#tell(handler, { before: isReplaced ? undefined : previous, after: object, isInInitialList });
    }
  }

  #remove(key: string, last: T | undefined): void {
    const previous = this.#cache.delete(key);
    if (previous === undefined) return;
    for (const handler of this.#handlers) this.#tell(handler, { before: last ?? previous });
  }

  /** Makes the cache equal to a list; listeners learn the difference. */
  #replace(items: readonly T[]): void {
    if (this.#cache.size === 0) {
      for (const object of items) this.#put(object, !this.#hasSynced);
      return;
    }
    const present = new Set(items.map(keyOf));
    for (const key of [...this.#cache.keys()]) if (!present.has(key)) this.#remove(key, undefined);
    for (const object of items) {
      const known = this.#cache.getByKey(keyOf(object));
      if (known === undefined || known.metadata.resourceVersion !== object.metadata.resourceVersion || !known.metadata.resourceVersion) {
        this.#put(object, !this.#hasSynced);
      }
    }
  }

  /** A listener's mistake is its own: the others are told all the same. */
  #tell(handler: InformerHandler<T>, { before, after, isInInitialList = false }: Change<T>): void {
    try {
      if (after === undefined) handler.delete?.(before!);
      else if (before === undefined) handler.add?.(after, isInInitialList);
      else handler.update?.(before, after);
    } catch (error) {
      this.#deps.logger.error('a listener of an informer failed', { resource: this.#client.ref.resource, error });
    }
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    if (clock.monotonic() - this.#lastFailure > BACKOFF_RESET_MS) this.#backoff.reset();
    this.#lastFailure = clock.monotonic();
    logger.warn('cannot follow a resource; trying again', { resource: this.#client.ref.resource, error });
    const asked = error instanceof StatusError ? error.retryAfterSeconds * 1000 : 0;
    await clock.sleep(Math.max(this.#backoff.next(), asked), signal).catch(() => {});
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
