import { StatusError } from '#machinery';
import type { ApiResponse } from '../request/api-response.ts';
import { groupResource, type ResourceCall } from './resource-call.ts';
import { parseResourceVersion } from './resource-version.ts';

export async function handleGet(call: ResourceCall): Promise<ApiResponse> {
  const { resource, namespace, name, request } = call;
  const asked = request.query.get('resourceVersion');
  if (asked) await resource.storage!.cache.fresh().then(() => parseResourceVersion(asked, resource.storage!.cache.revision));
  const found = await resource.storage!.get(namespace, name);
  if (found === undefined) throw StatusError.notFound(groupResource(call), name);
  return { type: 'object', code: 200, resource, object: found.as(resource) };
}
