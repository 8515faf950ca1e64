export { type EmbeddedStore, type EmbeddedStoreOptions, openEmbeddedStore } from './embedded/embedded-store.ts';
export { type RestoreOptions, restoreEmbeddedStore } from './embedded/snapshot-file.ts';
export { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd/etcd-store.ts';

export { unitOrder } from './key-order.ts';
export { bytesOf, type LazyValue } from './lazy-value.ts';
export { MAX_KEY_BYTES, MAX_OPERATIONS, MAX_REQUEST_BYTES } from './limits.ts';
export { type MemoryStore, type MemoryStoreOptions, openMemoryStore, restoreMemoryStore } from './memory/memory-store.ts';
export { PersistentMap } from './memory/persistent-map.ts';
export * from './store.ts';
export { StoreError, type StoreErrorCode } from './store-error.ts';
export { type WatchItem, type WatchStreamOptions, watchStream } from './watch-stream.ts';
