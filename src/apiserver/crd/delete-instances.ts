import type { Clock } from '#base';
import { formatTime } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ResourceStorage } from '../registry/resource-storage.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';

/**
 * Deletes the objects of a definition that goes away, and tells how many finalizers hold. As upstream does, where they are kept: neither
 * admission nor a conversion webhook is asked, nor does it matter whether any version is served.
 */
export async function deleteInstances(storage: ResourceStorage, clock: Clock): Promise<number> {
  await storage.cache.fresh();
  for (const object of [...storage.cache.objects()]) await deleteInstance(storage, object, clock);
  await storage.cache.fresh();
  return [...storage.cache.objects()].length;
}

/** Another write that came first is dealt with in the next round. */
async function deleteInstance(storage: ResourceStorage, current: CachedObject, clock: Clock): Promise<void> {
  const { object } = current;
  if (!object.metadata.finalizers?.length) await storage.delete(current);
  else if (object.metadata.deletionTimestamp === undefined) await storage.update(current, marked(object, clock));
}

function marked(object: KubeObject, clock: Clock): KubeObject {
  const { generation } = object.metadata;
  const deletion = { deletionTimestamp: formatTime(clock.now()), deletionGracePeriodSeconds: 0 };
  return { ...object, metadata: { ...object.metadata, ...deletion, ...(generation && { generation: generation + 1 }) } };
}
