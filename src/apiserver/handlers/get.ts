import { StatusError } from '#machinery';
import type { ApiResponse } from '../request/api-response.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import { groupResource, type ResourceCall } from './resource-call.ts';
import { parseResourceVersion } from './resource-version.ts';

/** Answers at once, where the cache is known to be current. */
export function handleGet(call: ResourceCall): Promise<ApiResponse> | ApiResponse {
  const { resource, namespace, name, request } = call;
  const asked = request.query.get('resourceVersion');
  if (asked) return getNotOlder(call, asked);
  const found = resource.storage!.get(namespace, name);
  return found instanceof Promise ? found.then((object) => answer(call, object)) : answer(call, found);
}

async function getNotOlder(call: ResourceCall, version: string): Promise<ApiResponse> {
  const storage = call.resource.storage!;
  await storage.cache.fresh();
  parseResourceVersion(version, storage.cache.revision);
  return answer(call, await storage.get(call.namespace, call.name));
}

function answer(call: ResourceCall, found: CachedObject | undefined): Promise<ApiResponse> | ApiResponse {
  const { resource, name } = call;
  if (found === undefined) throw StatusError.notFound(groupResource(call), name);
  const inVersion = (): ApiResponse => ({ type: 'object', code: 200, resource, object: found.as(resource) });
  const loading = resource.remote && loadVersions(resource, [found]);
  return loading === undefined ? inVersion() : loading.then(inVersion);
}
