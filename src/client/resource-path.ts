import { checkPathSegmentName } from '#machinery';
import type { ObjectKey } from './kube-object.ts';

/** A resource in one version. Every `Kind` is one. */
export interface ResourceRef {
  readonly group: string;
  readonly version: string;
  /** The plural: `pods`. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** Known for built-in kinds and from discovery: set on list items, which omit it. */
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
  if (ref.namespaced && namespace) path += `/namespaces/${segment(namespace)}`;
  path += `/${ref.resource}`;
  if (name !== undefined) path += `/${segment(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Names often come from the fields of other objects: one with a slash would lead elsewhere. */
function segment(name: string): string {
  const problems = checkPathSegmentName(name);
  if (problems.length > 0) throw new TypeError(`invalid resource name ${JSON.stringify(name)}: ${problems.join(', ')}`);
  return name;
}

/** The path of one object. Throws when the key does not match the resource's scope. */
export function objectPath(ref: ResourceRef, key: ObjectKey, subresource?: string): string {
  if (!key.name) throw new TypeError(`an object of ${ref.resource} needs a name`);
  if (ref.namespaced && !key.namespace) throw new TypeError(`${ref.resource} "${key.name}" needs a namespace`);
  return resourcePath(ref, { namespace: key.namespace, name: key.name, ...(subresource !== undefined && { subresource }) });
}
