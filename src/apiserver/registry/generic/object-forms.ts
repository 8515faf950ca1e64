import type { CachedObject } from '../../watch-cache/cached-object.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { ServedResource } from './served-resource.ts';

/**
 * A kind with several versions has objects in several forms: as requested, internal (as validated), and as stored. Built-in kinds are
 * validated in the stored version (`storedAs`); custom kinds are validated in the requested version.
 */
export function internalResource(resource: ServedResource): ServedResource {
  return resource.storedAs ?? resource;
}

/** From the requested version to the internal one. */
export function toInternal(resource: ServedResource, object: KubeObject): KubeObject {
  return resource.storedAs === undefined ? object : (resource.toStored?.(object) ?? object);
}

/** From the internal version to the requested one. */
export function fromInternal(resource: ServedResource, object: KubeObject): KubeObject {
  return resource.storedAs === undefined ? object : (resource.fromStored?.(object) ?? object);
}

/** The stored object in its internal version. */
export function internalCurrent(resource: ServedResource, current: CachedObject): KubeObject {
  return resource.storedAs === undefined ? current.as(resource).object : current.object;
}

/** Converts from the internal version to the stored one, possibly by webhook. */
export function toStoredForm(resource: ServedResource, object: KubeObject): KubeObject | Promise<KubeObject> {
  if (resource.remote !== undefined) return resource.remote.toStored(object);
  return resource.storedAs === undefined ? (resource.toStored?.(object) ?? object) : object;
}
