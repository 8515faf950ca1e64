import type { Clock, Logger, MaybePromise, MetricsRegistry } from '#base';
import type { ObjectSchema } from '#machinery';
import { ABSENT, type Store } from '#store';
import { StoreMetrics } from '../../metrics/store-metrics.ts';
import { type EncryptedStore, encryptedStore } from '../../storage-encryption/encrypted-store.ts';
import type { Encryption } from '../../storage-encryption/encryption.ts';
import type { Transformer } from '../../storage-encryption/transformer.ts';
import { encryptedFormat, type StorageMediaType, type StoredKind, storageFormat } from '../../storage-format/storage-format.ts';
import { CachedObject } from '../../watch-cache/cached-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import { ObjectEncoding, StoredObject } from '../../watch-cache/object-encoding.ts';
import type { ResidentMemory } from '../../watch-cache/resident-memory.ts';
import { type CacheState, ResourceCache } from '../../watch-cache/resource-cache.ts';
import { StoredRepair } from '../../watch-cache/stored-repair.ts';
import type { HeapQuota } from './heap-quota.ts';
import type { StoreQuota } from './store-quota.ts';

/** Upstream's key prefix. */
export const KEY_PREFIX = '/registry';

export interface StorageDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Undefined: objects stay in memory. */
  readonly memory?: ResidentMemory;
  /** Undefined: no quota. */
  readonly quota?: StoreQuota;
  /** Undefined: no limit but the heap itself. */
  readonly heap?: HeapQuota;
  /** Encryption at rest. Default: none. */
  readonly encryption?: Pick<Encryption, 'transformerFor'> | undefined;
  /** The prefix of all keys. Default: `/registry`. */
  readonly keyPrefix?: string | undefined;
  /** Set for a store shared with upstream's servers: the encoding of values. Default: this server's own format. */
  readonly storageMediaType?: StorageMediaType | undefined;
}

export interface StorageOptions {
  /** The key prefix of the resource: `pods`, `services/specs`. */
  readonly location: string;
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespaced: boolean;
  readonly ttlSeconds?: number | undefined;
  readonly trigger?: (object: KubeObject) => string;
  readonly revive?: (object: KubeObject) => KubeObject;
  /** Stored objects with other types are repaired. Default: they are not checked (custom resources are revived). */
  readonly schema?: ObjectSchema;
  /** The versions in a shared store. Default: any, as JSON (custom resources). */
  readonly stored?: Omit<StoredKind, 'kind' | 'apiVersion'>;
  readonly initial?: CacheState | undefined;
}

/** The transformer of stored values; undefined for none. Read for each value: encryption may be reconfigured. */
function transformerOf(options: StorageOptions, { encryption, storageMediaType }: StorageDeps): (() => Transformer) | undefined {
  const encrypt = encryption && (() => encryption.transformerFor(options));
  if (storageMediaType === undefined) return encrypt;
  const { kind, apiVersion, stored = { versions: undefined } } = options;
  const format = storageFormat({ kind, apiVersion, ...stored }, storageMediaType);
  return encrypt === undefined ? () => format : () => encryptedFormat(format, encrypt());
}

/** Fields that hold an object of any kind. */
function rawFieldsOf(schema: ObjectSchema | undefined): ReadonlySet<string> {
  const raw = schema?.fields.filter((field) => field.schema.type === 'any' && field.schema.name.endsWith('.RawExtension'));
  return new Set(raw?.map(({ name }) => name));
}

/** The size that is assumed for values that were never encoded. */
const UNENCODED_BYTES = 2048;

/** The objects of one resource in the store: read through the cache, written by compare-and-put. */
export class ResourceStorage {
  readonly cache: ResourceCache;
  /** The group of the stored kind, which may be served in others too. */
  readonly group: string;
  readonly namespaced: boolean;
  readonly #store: Store;
  readonly #encoding: ObjectEncoding;
  readonly #ttlSeconds: number | undefined;
  readonly #metrics: StoreMetrics;
  readonly #quota: StoreQuota | undefined;
  readonly #heap: HeapQuota | undefined;
  readonly #isStale: EncryptedStore['isStale'] | undefined;

  constructor(options: StorageOptions, deps: StorageDeps) {
    const { clock, logger, metrics, quota, heap, memory } = deps;
    const transformer = transformerOf(options, deps);
    const transformed = transformer && encryptedStore(deps.store, transformer);
    const store = transformed ?? deps.store;
    this.#store = store;
    this.#isStale = transformed?.isStale;
    this.#quota = quota;
    this.#heap = heap;
    this.#metrics = new StoreMetrics(metrics, { group: options.group, resource: options.resource });
    this.group = options.group;
    this.namespaced = options.namespaced;
    this.#ttlSeconds = options.ttlSeconds;
    // What expires is written by the thousand and seldom read: the bytes of a pod's events take as much memory as all else of the pod.
    const keepsBytes = options.ttlSeconds === undefined;
    this.#encoding = new ObjectEncoding(options.kind, options.apiVersion, { keepsBytes, rawFields: rawFieldsOf(options.schema) });
    this.cache = new ResourceCache({
      store,
      clock,
      logger,
      prefix: `${deps.keyPrefix ?? KEY_PREFIX}/${options.location}/`,
      encoding: this.#encoding,
      ...(memory && { memory }),
      ...(options.trigger && { trigger: options.trigger }),
      ...(options.revive && { revive: options.revive }),
      ...(options.schema && { repair: new StoredRepair(options.schema, { ...options, logger, metrics }) }),
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

  /** Whether the cache is current; otherwise wait for it first. */
  get isCurrent(): boolean {
    return this.cache.isStarted && this.#store.localReads;
  }

  /** The current object: sees every write that was acknowledged before the call. Synchronous if the cache is current. */
  get(namespace: string, name: string): CachedObject | undefined | Promise<CachedObject | undefined> {
    const key = this.keyOf(namespace, name);
    return this.isCurrent ? this.cache.get(key) : this.#read(key);
  }

  /** Reads from the store: for one key cheaper than waiting for the cache. */
  async #read(key: string): Promise<CachedObject | undefined> {
    if (!this.cache.isStarted) await this.cache.start();
    if (this.#store.localReads) return this.cache.get(key);
    const { entry } = await this.#metrics.measure('get', () => this.#store.get(key));
    return entry && this.cache.objectOf(entry);
  }

  /** Undefined when the key exists. */
  create(key: string, object: KubeObject): Promise<CachedObject | undefined> {
    return this.#put(key, StoredObject.of(object, this.#encoding), ABSENT);
  }

  /** Undefined on a conflict; `current` itself if nothing would change. */
  update(current: CachedObject, object: KubeObject): MaybePromise<CachedObject | undefined> {
    if (current.equals(object)) return this.#isStale === undefined ? current : this.#rewriteStale(current, object, this.#isStale);
    return this.#put(current.key, StoredObject.of(object, this.#encoding, current), current.revision);
  }

  /** Rewrites values with outdated encryption or format, even if the object is unchanged. */
  async #rewriteStale(current: CachedObject, object: KubeObject, isStale: EncryptedStore['isStale']): Promise<CachedObject | undefined> {
    if (!(await isStale(current.key, current.revision))) return current;
    return this.#put(current.key, StoredObject.of(object, this.#encoding, current), current.revision);
  }

  /** The revision of the deletion; undefined on a conflict. */
  async delete(current: CachedObject): Promise<number | undefined> {
    const compare = [{ key: current.key, modRevision: current.revision }];
    const result = await this.#metrics.measure('delete', () => this.#store.txn({ compare, write: [{ type: 'delete', key: current.key }] }));
    return result.succeeded ? result.revision : undefined;
  }

  async #put(key: string, stored: StoredObject, modRevision: number): Promise<CachedObject | undefined> {
    if (!this.cache.isStarted) await this.cache.start();
    const isCreation = modRevision === ABSENT;
    const isRemoval = stored.object.metadata.deletionTimestamp !== undefined;
    if (this.#heap?.isHealthy() === false && !(isCreation && this.cache.get(key) !== undefined))
      this.#heap.check({ isCreation, isRemoval });
    const room = this.#quota?.check(isRemoval);
    if (room !== undefined) {
      // AlreadyExists takes precedence.
      if (isCreation && this.cache.get(key) !== undefined) return undefined;
      await room;
    }
    const put = { type: 'put', key, value: stored, ...(this.#ttlSeconds && { ttlSeconds: this.#ttlSeconds }) } as const;
    const operation = isCreation ? 'create' : 'update';
    const written = this.#metrics.measure(operation, () => this.#store.txn({ compare: [{ key, modRevision }], write: [put] }));
    const { succeeded, revision } = await written;
    if (!succeeded) return undefined;
    stored.detach();
    this.#quota?.wrote(key.length + (stored.knownLength ?? UNENCODED_BYTES));
    const cached = this.cache.get(key);
    if (cached?.revision === revision) return cached;
    return CachedObject.of(key, revision, stored);
  }
}
