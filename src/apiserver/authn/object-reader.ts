import type { ResourceStorage } from '../registry/generic/resource-storage.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';

/** Reads objects of one resource by name. */
export interface ObjectReader {
  /** From the cache, which may lag behind a remote store. */
  cached(namespace: string, name: string): KubeObject | undefined;
  /** A consistent read. */
  current(namespace: string, name: string): Promise<KubeObject | undefined>;
}

export function objectReader(storage: ResourceStorage): ObjectReader {
  return {
    cached: (namespace, name) => (storage.cache.isStarted ? storage.cache.get(storage.keyOf(namespace, name))?.object : undefined),
    current: async (namespace, name) => (await storage.get(namespace, name))?.object,
  };
}
