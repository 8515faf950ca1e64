import { isStatusReason } from '#machinery';
import type { ApiResponse } from '../request/api-response.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { deleteObject } from './delete.ts';
import { deleteOptions } from './delete-options.ts';
import type { ResourceCall } from './resource-call.ts';
import { selectionOf } from './selection.ts';

export async function handleDeleteCollection(call: ResourceCall): Promise<ApiResponse> {
  const { resource, namespace } = call;
  const options = await deleteOptions(call);
  const { matches } = selectionOf(call);
  const { cache } = resource.storage!;
  await cache.fresh();
  const revision = cache.revision;
  const targets = [...cache.objects(resource.storage!.prefixOf(namespace))].filter((object) => !matches || matches(object.object));
  const deleted: CachedObject[] = [];
  for (const target of targets) if (await deleteOne(call, target, options)) deleted.push(target);
  return { type: 'list', resource, items: deleted.map((object) => object.as(resource)), revision };
}

/** Another client may have been faster; that is no failure. */
async function deleteOne(call: ResourceCall, target: CachedObject, options: Awaited<ReturnType<typeof deleteOptions>>): Promise<boolean> {
  const { name, namespace = '' } = target.object.metadata;
  try {
    await deleteObject({ ...call, name, namespace }, options);
    return true;
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return false;
    throw error;
  }
}
