import { isStatusReason } from '#machinery';
import type { ApiResponse } from '../request/api-response.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import { deleteObject } from './delete.ts';
import { deleteOptions } from './delete-options.ts';
import { listPage } from './list.ts';
import type { ResourceCall } from './resource-call.ts';
import { selectionOf } from './selection.ts';

/** Deletes what a list would show, one page of it when there is a limit, and answers with that list. */
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
