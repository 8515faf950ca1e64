import { type Clock, type MaybePromise, mapMaybePromise, type Random } from '#base';
import { StatusError } from '#machinery';
import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { ResourceTable } from '../../registry/generic/resource-table.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** Dependencies of built-in plugins. None of them makes network calls. */
export interface PluginDeps {
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly random: Random;
}

/** Reads an object of another resource as of now. */
export function readObject(
  deps: PluginDeps,
  place: { group: string; resource: string },
  { namespace, name }: { namespace: string; name: string },
): MaybePromise<KubeObject | undefined> {
  return mapMaybePromise(storageOf(deps, place).get(namespace, name), (cached) => cached?.object);
}

/** Every object of another resource, in one namespace or in all. */
export function readObjects(
  deps: PluginDeps,
  place: { group: string; resource: string },
  namespace = '',
): MaybePromise<readonly KubeObject[]> {
  const storage = storageOf(deps, place);
  return storage.isCurrent ? objectsIn(storage, namespace) : storage.cache.fresh().then(() => objectsIn(storage, namespace));
}

const NONE: readonly KubeObject[] = [];

function objectsIn(storage: ResourceStorage, namespace: string): readonly KubeObject[] {
  const { cache } = storage;
  return cache.size === 0 ? NONE : [...cache.objects(storage.prefixOf(namespace))].map(({ object }) => object);
}

export function storageOf({ table }: PluginDeps, { group, resource }: { group: string; resource: string }) {
  const served = table.findPreferred(group, resource);
  if (served?.storage === undefined) throw new Error(`no resource ${resource} in group ${group}`);
  return served.storage;
}

/** Whether the request is for pods, or for this subresource of pods. */
export function isAboutPods({ resource, subresource }: AdmissionAttributes, ...subresources: readonly string[]): boolean {
  return resource.group === '' && resource.resource === 'pods' && (subresource === '' || subresources.includes(subresource));
}

export function pluginForbiddenError({ resource, name, object }: AdmissionAttributes, detail: string): StatusError {
  const displayName = name || ((object as KubeObject | undefined)?.metadata.name ?? '') || 'Unknown';
  return StatusError.forbidden({ group: resource.group, resource: resource.resource }, displayName, detail);
}
