import type { KubeObject } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';

/**
 * A kind with several versions has objects in several forms: as requested, as its rules are written for, and as stored. Built-in kinds have
 * their rules for the stored version (`storedAs`); custom kinds have rules for each version, which apply to objects as requested.
 */
export function ruledResource(resource: ServedResource): ServedResource {
  return resource.storedAs ?? resource;
}

/** From the requested form to the one that rules are for. */
export function toRuled(resource: ServedResource, object: KubeObject): KubeObject {
  return resource.storedAs === undefined ? object : (resource.toStored?.(object) ?? object);
}

/** From the form that rules are for back to the requested one. */
export function fromRuled(resource: ServedResource, object: KubeObject): KubeObject {
  return resource.storedAs === undefined ? object : (resource.fromStored?.(object) ?? object);
}

/** What is in the store, in the form that rules are for. */
export function ruledCurrent(resource: ServedResource, current: CachedObject): KubeObject {
  return resource.storedAs === undefined ? current.as(resource).object : current.object;
}

/** From the form that rules are for to the stored one, which somebody else may have to be asked for. */
export function toStoredForm(resource: ServedResource, object: KubeObject): KubeObject | Promise<KubeObject> {
  if (resource.remote !== undefined) return resource.remote.toStored(object);
  return resource.storedAs === undefined ? (resource.toStored?.(object) ?? object) : object;
}
