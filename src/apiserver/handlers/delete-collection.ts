import { isStatusReason } from '#machinery';
import { type DeleteOptions, deleteObject } from '../registry/generic/delete-object.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import type { ApiResponse } from './api-response.ts';
import { deleteOptions } from './delete-options.ts';
import { listPage } from './list.ts';
import { objectWrite } from './object-write.ts';
import type { ResourceCall } from './resource-call.ts';
import { selectionOf } from './selection.ts';

/** Deletes the objects that a list with these options returns, and responds with that list. */
export async function handleDeleteCollection(call: ResourceCall): Promise<ApiResponse> {
  const { resource } = call;
  const { options: listing, selection } = selectionOf(call, false);
  const options = await deleteOptions(call);
  const { items, ...page } = await listPage(call, listing, selection);
  await loadVersions(resource, items);
  const deleted: CachedObject[] = [];
  for (const target of items) if (await deleteOne(call, target, options)) deleted.push(target);
  return { type: 'list', resource, items: deleted.map((object) => object.as(resource)), ...page };
}

/** Ignores objects that another client has deleted. */
async function deleteOne(call: ResourceCall, target: CachedObject, options: DeleteOptions): Promise<boolean> {
  const { name, namespace = '' } = target.object.metadata;
  try {
    await deleteObject(objectWrite({ ...call, name, namespace }), options);
    return true;
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return false;
    throw error;
  }
}
