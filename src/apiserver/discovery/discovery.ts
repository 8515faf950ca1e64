import { createHash } from 'node:crypto';
import { apiVersionOf } from '#machinery';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import type { ServedResource, ServedSubresource } from '../registry/generic/served-resource.ts';
import { type GroupVersions, groupsInOrder, type RemoteVersions } from './merged-groups.ts';

/** Discovery documents: one per version, and aggregated. */
export function apiVersions(address: string) {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }] };
}

export function groupList(table: ResourceTable, remote?: RemoteVersions) {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsInOrder(table, remote).map(groupEntry) };
}

/** Undefined when the group does not exist. */
export function groupDocument(table: ResourceTable, name: string, remote?: RemoteVersions) {
  const group = groupsInOrder(table, remote).find((candidate) => candidate.group === name);
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) };
}

function groupEntry({ group, versions: all }: GroupVersions) {
  const versions = all.map(({ version }) => ({ groupVersion: apiVersionOf({ group, version }), version }));
  return { name: group, versions, preferredVersion: versions[0] };
}

export function resourceList(table: ResourceTable, group: string, version: string) {
  const resources = sorted(table.inVersion(group, version)).flatMap((resource) => resourceEntries(resource));
  return { kind: 'APIResourceList', ...(group !== '' && { apiVersion: 'v1' }), groupVersion: apiVersionOf({ group, version }), resources };
}

function sorted(resources: readonly ServedResource[]): readonly ServedResource[] {
  return resources.toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
}

function resourceEntries(resource: ServedResource) {
  const { resource: name, singular, namespaced, kind, shortNames, categories } = resource;
  const main = {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs: verbsOf(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(resource.storage !== undefined && { storageVersionHash: storageVersionHash(resource) }),
  };
  return [main, ...subresourceEntries(resource)];
}

/** No creation while the definition is terminating. */
function verbsOf({ verbs, isTerminating }: ServedResource): readonly string[] {
  return isTerminating?.() ? verbs.filter((verb) => !WRITES.has(verb)) : verbs;
}

const WRITES: ReadonlySet<string> = new Set(['create', 'patch', 'update']);

/** Built-in ones sorted by name, those of custom resources in definition order. */
function subresourcesOf({ subresources, custom }: ServedResource): readonly ServedSubresource[] {
  const all = [...subresources.values()];
  return custom ? all : all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function subresourceEntries(served: ServedResource) {
  const { resource, namespaced, group, version } = served;
  return subresourcesOf(served).map((sub) => {
    const foreign = sub.kind.group !== group || sub.kind.version !== version;
    const place = foreign ? { group: sub.kind.group, version: sub.kind.version } : {};
    return { name: `${resource}/${sub.name}`, singularName: '', namespaced, ...place, kind: sub.kind.kind, verbs: sub.verbs };
  });
}

function storageVersionHash({ storage, group, version, kind, storedAs, storedVersion }: ServedResource): string {
  const stored = storedVersion ?? storedAs?.version ?? version;
  return createHash('sha256')
    .update(`${storage?.group ?? group}/${stored}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}

const AGGREGATED = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} };

export function aggregatedCore(table: ResourceTable) {
  const versions = table.versions('').map((version) => ({ version }));
  return { ...AGGREGATED, items: [{ ...aggregatedGroup(table, { group: '', versions }), metadata: {} }] };
}

export function aggregatedGroups(table: ResourceTable, remote?: RemoteVersions) {
  return { ...AGGREGATED, items: groupsInOrder(table, remote).map((group) => aggregatedGroup(table, group)) };
}

function aggregatedGroup(table: ResourceTable, { group, versions: all }: GroupVersions) {
  const versions = all.map(
    ({ version, discovery }) =>
      discovery ?? { version, resources: sorted(table.inVersion(group, version)).map(aggregatedResource), freshness: 'Current' },
  );
  return { metadata: { name: group }, versions };
}

function aggregatedResource(resource: ServedResource) {
  const { kind, namespaced, singular, shortNames, categories, subresources, custom, group, version } = resource;
  const responseKind = custom ? { group, version, kind } : { group: '', version: '', kind };
  return {
    resource: resource.resource,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.size > 0 && {
      subresources: subresourcesOf(resource).map((sub) => ({
        subresource: sub.name,
        responseKind: subresourceKind(resource, sub.kind),
        verbs: sub.verbs,
      })),
    }),
  };
}

function subresourceKind({ group, version, custom }: ServedResource, kind: { group: string; version: string; kind: string }) {
  const own = !custom && kind.group === group && kind.version === version;
  return own ? { group: '', version: '', kind: kind.kind } : kind;
}
