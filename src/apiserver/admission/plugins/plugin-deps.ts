import type { Clock, Random } from '#base';
import { StatusError } from '#machinery';
import type { KubeObject } from '../../registry/kube-object.ts';
import type { ResourceTable } from '../../registry/resource-table.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** What built-in plugins work with: the server's own resources, never a network. */
export interface PluginDeps {
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly random: Random;
}

/** Reads an object of another resource as of now. */
export async function readObject(
  deps: PluginDeps,
  place: { group: string; resource: string },
  key: { namespace: string; name: string },
): Promise<KubeObject | undefined> {
  const found = await storageOf(deps, place).get(key.namespace, key.name);
  return found?.object;
}

/** Every object of another resource, in one namespace or in all. */
export async function readObjects(
  deps: PluginDeps,
  place: { group: string; resource: string },
  namespace = '',
): Promise<readonly KubeObject[]> {
  const storage = storageOf(deps, place);
  if (!storage.isCurrent) await storage.cache.fresh();
  return [...storage.cache.objects(storage.prefixOf(namespace))].map(({ object }) => object);
}

export function storageOf({ table }: PluginDeps, { group, resource }: { group: string; resource: string }) {
  const version = table.versions(group)[0];
  const served = version === undefined ? undefined : table.find(group, version, resource);
  if (served?.storage === undefined) throw new Error(`no resource ${resource} in group ${group}`);
  return served.storage;
}

/** Whether the change is to pods themselves, or to this subresource of theirs. */
export function isAboutPods({ resource, subresource }: AdmissionAttributes, ...subresources: readonly string[]): boolean {
  return resource.group === '' && resource.resource === 'pods' && (subresource === '' || subresources.includes(subresource));
}

export function forbid({ resource, name, object }: AdmissionAttributes, why: string): StatusError {
  const known = name || ((object as KubeObject | undefined)?.metadata.name ?? '') || 'Unknown';
  return StatusError.forbidden({ group: resource.group, resource: resource.resource }, known, why);
}
