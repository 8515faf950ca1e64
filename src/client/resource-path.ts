import type { ObjectKey } from './kube-object.ts';

/** Names a resource in one version: all that is needed to speak of its objects. Every `Kind` is one. */
export interface ResourceRef {
  readonly group: string;
  readonly version: string;
  /** The plural: `pods`. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** Known for built-in kinds and from discovery: items of a list are given it, as lists leave it out. */
  readonly kind?: string;
}

export interface PathTarget {
  readonly namespace?: string | undefined;
  readonly name?: string;
  readonly subresource?: string;
}

export function versionPath({ group, version }: Pick<ResourceRef, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

export function resourcePath(ref: ResourceRef, { namespace, name, subresource }: PathTarget): string {
  let path = versionPath(ref);
  if (ref.namespaced && namespace) path += `/namespaces/${namespace}`;
  path += `/${ref.resource}`;
  if (name !== undefined) path += `/${name}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** The path of one object. Throws when the key does not fit the resource: such a path would name something else. */
export function objectPath(ref: ResourceRef, key: ObjectKey, subresource?: string): string {
  if (!key.name) throw new TypeError(`an object of ${ref.resource} needs a name`);
  if (ref.namespaced && !key.namespace) throw new TypeError(`${ref.resource} "${key.name}" needs a namespace`);
  return resourcePath(ref, { namespace: key.namespace, name: key.name, ...(subresource !== undefined && { subresource }) });
}
