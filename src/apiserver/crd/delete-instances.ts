import type { Clock } from '#base';
import { deletionMetadata } from '../registry/generic/delete-object.ts';
import type { ResourceStorage } from '../registry/generic/resource-storage.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { withMetadata } from '../watch-cache/kube-object.ts';

/**
 * Deletes all objects of a deleted definition and returns how many are held by finalizers. Like upstream it works on the storage directly:
 * without admission or conversion, whether or not a version is served.
 */
export async function deleteInstances(storage: ResourceStorage, clock: Clock): Promise<number> {
  await storage.cache.fresh();
  for (const object of [...storage.cache.objects()]) await deleteInstance(storage, object, clock);
  await storage.cache.fresh();
  return [...storage.cache.objects()].length;
}

/** Conflict: the next round handles it. */
async function deleteInstance(storage: ResourceStorage, current: CachedObject, clock: Clock): Promise<void> {
  const { object } = current;
  if (!object.metadata.finalizers?.length) await storage.delete(current);
  else if (object.metadata.deletionTimestamp === undefined)
    await storage.update(current, withMetadata(object, deletionMetadata(object, clock.now(), 0)));
}
