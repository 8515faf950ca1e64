import type { KubeObject } from '../registry/kube-object.ts';
import type { ResourceStorage } from '../registry/resource-storage.ts';

/** Looks objects of one resource up by name. */
export interface ObjectReader {
  /** What this process knows, which may be a little behind when the store is elsewhere. */
  known(namespace: string, name: string): KubeObject | undefined;
  /** As of now. */
  current(namespace: string, name: string): Promise<KubeObject | undefined>;
}

export function objectReader(storage: ResourceStorage): ObjectReader {
  return {
    known: (namespace, name) => (storage.cache.isStarted ? storage.cache.get(storage.keyOf(namespace, name))?.object : undefined),
    current: async (namespace, name) => (await storage.get(namespace, name))?.object,
  };
}
