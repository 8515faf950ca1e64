import { mapMaybePromise } from '#base';
import { StatusError } from '#machinery';
import { parseResourceVersion } from '../request/resource-version.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import type { ApiResponse } from './api-response.ts';
import { groupResource, type ResourceCall } from './resource-call.ts';

/** Synchronous if the cache is current. */
export function handleGet(call: ResourceCall): Promise<ApiResponse> | ApiResponse {
  const { resource, namespace, name, request } = call;
  const resourceVersion = request.query.get('resourceVersion');
  if (resourceVersion) return getNotOlder(call, resourceVersion);
  const cached = resource.storage.get(namespace, name);
  return mapMaybePromise(cached, (object) => respond(call, object));
}

async function getNotOlder(call: ResourceCall, version: string): Promise<ApiResponse> {
  const storage = call.resource.storage;
  await storage.cache.fresh();
  parseResourceVersion(version, storage.cache.revision);
  return respond(call, await storage.get(call.namespace, call.name));
}

function respond(call: ResourceCall, cached: CachedObject | undefined): Promise<ApiResponse> | ApiResponse {
  const { resource, name } = call;
  if (cached === undefined) throw StatusError.notFound(groupResource(call), name);
  const inVersion = (): ApiResponse => ({ type: 'object', code: 200, resource, object: cached.as(resource) });
  const loading = resource.remote && loadVersions(resource, [cached]);
  return loading === undefined ? inVersion() : loading.then(inVersion);
}
