import type { meta } from '#api';
import { isStatusReason, parseGroupVersion } from '#machinery';
import type { ResourceRef } from './resource-path.ts';
import { versionPath } from './resource-path.ts';
import type { Transport } from './transport.ts';

/** A resource as a server says it serves it. */
export interface DiscoveredResource extends ResourceRef {
  readonly kind: string;
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Names of its subresources. */
  readonly subresources: readonly string[];
}

export interface Discovery {
  readonly resources: readonly DiscoveredResource[];
  /** Groups and versions that could not be asked, as when the server behind an aggregated API is away. */
  readonly failures: ReadonlyMap<string, unknown>;
}

/** Everything the server serves, in the version it prefers of each group. */
export async function discoverPreferred(transport: Transport, signal?: AbortSignal): Promise<Discovery> {
  const { groups } = (await transport.request({ method: 'GET', path: '/apis', signal })) as meta.APIGroupList;
  const preferred = new Map<string, DiscoveredResource>();
  const failures = new Map<string, unknown>();
  const versions = [{ group: '', version: 'v1' }, ...groups.flatMap(versionsOf)];
  const lists = await Promise.all(versions.map((version) => discoverVersion(transport, version, signal).catch(failed(version, failures))));
  for (const resource of lists.flat()) {
    const name = `${resource.group}/${resource.resource}`;
    if (!preferred.has(name)) preferred.set(name, resource);
  }
  return { resources: [...preferred.values()], failures };
}

/** The preferred version first. */
function versionsOf({ name, versions, preferredVersion }: meta.APIGroup): readonly Version[] {
  const first = preferredVersion?.version;
  const ordered = versions.toSorted((a, b) => Number(b.version === first) - Number(a.version === first));
  return ordered.map(({ version }) => ({ group: name, version }));
}

interface Version {
  readonly group: string;
  readonly version: string;
}

function failed({ group, version }: Version, failures: Map<string, unknown>): (error: unknown) => readonly DiscoveredResource[] {
  return (error) => {
    // A group that went away between the two questions is no failure.
    if (!isStatusReason(error, 'NotFound')) failures.set(group === '' ? version : `${group}/${version}`, error);
    return [];
  };
}

export async function discoverVersion(transport: Transport, version: Version, signal?: AbortSignal): Promise<DiscoveredResource[]> {
  const list = (await transport.request({ method: 'GET', path: versionPath(version), signal })) as meta.APIResourceList;
  const { group, version: name } = parseGroupVersion(list.groupVersion);
  const subresources = new Map<string, string[]>();
  for (const { name: path } of list.resources) {
    const [resource = '', subresource] = path.split('/');
    if (subresource !== undefined) subresources.set(resource, [...(subresources.get(resource) ?? []), subresource]);
  }
  return list.resources
    .filter((entry) => !entry.name.includes('/'))
    .map((entry) => ({
      group,
      version: name,
      resource: entry.name,
      namespaced: entry.namespaced,
      kind: entry.kind,
      singular: entry.singularName,
      verbs: entry.verbs,
      shortNames: entry.shortNames ?? [],
      categories: entry.categories ?? [],
      subresources: subresources.get(entry.name) ?? [],
    }));
}
