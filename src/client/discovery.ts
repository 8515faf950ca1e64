import type { apidiscoveryV2, meta } from '#api';
import { apiVersionOf, isStatusReason, parseGroupVersion } from '#machinery';
import { type ResourceRef, versionPath } from './resource-path.ts';
import type { Transport } from './transport.ts';

/** A resource in one version, from discovery. */
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
  /** Every resource in every version; the preferred version of each group first. */
  readonly resources: readonly DiscoveredResource[];
  /** Groups and versions whose discovery failed, such as unavailable aggregated APIs. */
  readonly failures: ReadonlyMap<string, unknown>;
}

interface Version {
  readonly group: string;
  readonly version: string;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const ACCEPT = `${AGGREGATED},application/json`;

/** Discovers all resources: in two requests (aggregated discovery), or one per version on old servers. */
export async function discover(transport: Transport, signal?: AbortSignal): Promise<Discovery> {
  const fetchDocument = (path: string) => transport.request({ method: 'GET', path, accept: ACCEPT, signal });
  const [core, groups] = await Promise.all([fetchDocument('/api'), fetchDocument('/apis')]);
  const failures = new Map<string, unknown>();
  const lists = await Promise.all([
    isAggregated(core)
      ? fromAggregated(core, failures)
      : fetchVersions(transport, { versions: [{ group: '', version: 'v1' }], failures, signal }),
    isAggregated(groups)
      ? fromAggregated(groups, failures)
      : fetchVersions(transport, { versions: (groups as meta.APIGroupList).groups.flatMap(versionsOf), failures, signal }),
  ]);
  return { resources: lists.flat(), failures };
}

/** Each resource once, in the server's preferred version. */
export function preferredResources({ resources }: Discovery): readonly DiscoveredResource[] {
  const preferred = new Map<string, DiscoveredResource>();
  for (const resource of resources) {
    const name = `${resource.group}/${resource.resource}`;
    if (!preferred.has(name)) preferred.set(name, resource);
  }
  return [...preferred.values()];
}

function isAggregated(answer: unknown): answer is apidiscoveryV2.APIGroupDiscoveryList {
  return (answer as { kind?: string }).kind === 'APIGroupDiscoveryList';
}

function fromAggregated(list: apidiscoveryV2.APIGroupDiscoveryList, failures: Map<string, unknown>): readonly DiscoveredResource[] {
  return (list.items ?? []).flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version = '', resources = [], freshness }) => {
      const place = { group: metadata?.name ?? '', version };
      if (freshness === 'Stale') failures.set(apiVersionOf(place), new Error(`stale GroupVersion discovery: ${apiVersionOf(place)}`));
      return resources.map((resource) => ({
        ...place,
        resource: resource.resource ?? '',
        namespaced: resource.scope === 'Namespaced',
        kind: resource.responseKind?.kind ?? '',
        singular: resource.singularResource ?? '',
        verbs: resource.verbs ?? [],
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
        subresources: (resource.subresources ?? []).map(({ subresource = '' }) => subresource),
      }));
    }),
  );
}

/** The preferred version first. */
function versionsOf({ name, versions, preferredVersion }: meta.APIGroup): readonly Version[] {
  const first = preferredVersion?.version;
  const ordered = versions.toSorted((a, b) => Number(b.version === first) - Number(a.version === first));
  return ordered.map(({ version }) => ({ group: name, version }));
}

interface FetchOptions {
  readonly versions: readonly Version[];
  readonly failures: Map<string, unknown>;
  readonly signal: AbortSignal | undefined;
}

async function fetchVersions(transport: Transport, { versions, failures, signal }: FetchOptions): Promise<readonly DiscoveredResource[]> {
  const lists = await Promise.all(
    versions.map((version) =>
      discoverVersion(transport, version, signal).catch((error: unknown) => {
        // A group that was removed between the requests is not a failure.
        if (!isStatusReason(error, 'NotFound')) failures.set(apiVersionOf(version), error);
        return [];
      }),
    ),
  );
  return lists.flat();
}

export async function discoverVersion(
  transport: Transport,
  version: Version,
  signal?: AbortSignal,
): Promise<readonly DiscoveredResource[]> {
  const list = (await transport.request({ method: 'GET', path: versionPath(version), signal })) as meta.APIResourceList;
  const { group, version: name } = parseGroupVersion(list.groupVersion);
  const subresources = (resource: string) =>
    list.resources.filter((entry) => entry.name.startsWith(`${resource}/`)).map((entry) => entry.name.slice(resource.length + 1));
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
      subresources: subresources(entry.name),
    }));
}
