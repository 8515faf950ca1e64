import type { Logger, MetricsRegistry, Soon } from '#base';
import { ABSENT, type Store } from '#store';
import { CachedObject } from '../watch-cache/cached-object.ts';
import { ObjectEncoding, StoredObject } from '../watch-cache/object-encoding.ts';
import { type CacheState, ResourceCache } from '../watch-cache/resource-cache.ts';
import type { KubeObject } from './kube-object.ts';
import { StoreMetrics } from './store-metrics.ts';

export interface StorageDeps {
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

export interface StorageOptions {
  /** Keys begin with it, after `/registry/`: `pods`, `services/specs`. */
  readonly location: string;
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespaced: boolean;
  readonly ttlSeconds?: number | undefined;
  readonly trigger?: (object: KubeObject) => string;
  readonly revive?: (object: KubeObject) => KubeObject;
  readonly initial?: CacheState | undefined;
}

/** The objects of one resource in the store: read through the cache, written by compare-and-put. */
export class ResourceStorage {
  readonly cache: ResourceCache;
  readonly namespaced: boolean;
  readonly #store: Store;
  readonly #encoding: ObjectEncoding;
  readonly #ttlSeconds: number | undefined;
  readonly #metrics: StoreMetrics;

  constructor(options: StorageOptions, { store, logger, metrics }: StorageDeps) {
    this.#store = store;
    this.#metrics = new StoreMetrics(metrics, { group: options.group, resource: options.resource });
    this.namespaced = options.namespaced;
    this.#ttlSeconds = options.ttlSeconds;
    this.#encoding = new ObjectEncoding(options.kind, options.apiVersion);
    this.cache = new ResourceCache({
      store,
      logger,
      prefix: `/registry/${options.location}/`,
      encoding: this.#encoding,
      ...(options.trigger && { trigger: options.trigger }),
      ...(options.revive && { revive: options.revive }),
      ...(options.initial && { initial: options.initial }),
    });
  }

  get store(): Store {
    return this.#store;
  }

  keyOf(namespace: string, name: string): string {
    return this.namespaced ? `${this.cache.prefix}${namespace}/${name}` : this.cache.prefix + name;
  }

  /** The prefix of every key in the namespace, or of all keys. */
  prefixOf(namespace: string): string {
    return this.namespaced && namespace !== '' ? `${this.cache.prefix}${namespace}/` : this.cache.prefix;
  }

  /** What the cache holds is as of now; else ask it to become so first. */
  get isCurrent(): boolean {
    return this.cache.isStarted && this.#store.localReads;
  }

  /** The object as of now: every write acknowledged before the call is seen. At once, where the cache is known to be current. */
  get(namespace: string, name: string): CachedObject | undefined | Promise<CachedObject | undefined> {
    const key = this.keyOf(namespace, name);
    return this.isCurrent ? this.cache.get(key) : this.#read(key);
  }

  /** Asks the store itself: for one key that is cheaper than to wait until the cache is known to be current. */
  async #read(key: string): Promise<CachedObject | undefined> {
    if (!this.cache.isStarted) await this.cache.start();
    if (this.#store.localReads) return this.cache.get(key);
    const { entry } = await this.#metrics.measure('get', () => this.#store.get(key));
    return entry && this.cache.objectOf(entry);
  }

  /** Undefined when the key is taken. */
  create(key: string, object: KubeObject): Promise<CachedObject | undefined> {
    return this.#put(key, StoredObject.of(object, this.#encoding), ABSENT);
  }

  /** Undefined when the object is no longer at `current`'s revision; `current` itself when nothing would change. */
  update(current: CachedObject, object: KubeObject): Soon<CachedObject | undefined> {
    if (current.equals(object)) return current;
    return this.#put(current.key, StoredObject.of(object, this.#encoding, current), current.revision);
  }

  /** False when the object is no longer at `current`'s revision. */
  async delete(current: CachedObject): Promise<number | undefined> {
    const compare = [{ key: current.key, modRevision: current.revision }];
    const result = await this.#metrics.measure('delete', () => this.#store.txn({ compare, write: [{ type: 'delete', key: current.key }] }));
    return result.succeeded ? result.revision : undefined;
  }

  async #put(key: string, stored: StoredObject, modRevision: number): Promise<CachedObject | undefined> {
    if (!this.cache.isStarted) await this.cache.start();
    const put = { type: 'put', key, value: stored, ...(this.#ttlSeconds && { ttlSeconds: this.#ttlSeconds }) } as const;
    const operation = modRevision === ABSENT ? 'create' : 'update';
    const written = this.#metrics.measure(operation, () => this.#store.txn({ compare: [{ key, modRevision }], write: [put] }));
    const { succeeded, revision } = await written;
    if (!succeeded) return undefined;
    stored.detach();
    const cached = this.cache.get(key);
    if (cached?.revision === revision) return cached;
    return CachedObject.of(key, revision, stored);
  }
}
