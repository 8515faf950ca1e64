import type { apidiscoveryV2, apiregistration } from '#api';
import { byVersionPriority, type ResourceTable } from '../registry/generic/resource-table.ts';

type VersionDiscovery = apidiscoveryV2.APIVersionDiscovery;

/** A version served by another server. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  /** From that server's discovery. */
  readonly discovery: VersionDiscovery;
}

export interface RemoteVersions {
  readonly remote: readonly RemoteVersion[];
  /** APIServices by name (`VERSION.GROUP`), including local ones: they order the groups. */
  registration(name: string): apiregistration.APIService | undefined;
}

export interface GroupVersions {
  readonly group: string;
  /** Preferred version first. `discovery` is set for those of other servers. */
  readonly versions: readonly { readonly version: string; readonly discovery?: VersionDiscovery }[];
}

/** The aggregator's own group, which comes first. */
const FIRST = 'apiregistration.k8s.io';

/** All groups except core, in priority order. */
export function groupsInOrder(table: ResourceTable, merged: RemoteVersions | undefined): readonly GroupVersions[] {
  const own = table.groups().filter((group) => group !== '');
  if (merged === undefined || merged.remote.length === 0)
    return own.map((group) => ({ group, versions: table.versions(group).map((version) => ({ version })) }));
  const entries = new Map<string, RankedVersion>();
  for (const group of own) for (const version of table.versions(group)) addEntry(entries, { group, version }, merged);
  for (const { group, version, discovery } of merged.remote) if (group !== '') addEntry(entries, { group, version, discovery }, merged);
  return groupedByPriority([...entries.values()]);
}

interface RankedVersion {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly discovery?: VersionDiscovery;
  readonly groupPriority: number;
  readonly versionPriority: number;
}

function addEntry(
  entries: Map<string, RankedVersion>,
  entry: Pick<RankedVersion, 'group' | 'version' | 'discovery'>,
  merged: RemoteVersions,
): void {
  const name = `${entry.version}.${entry.group}`;
  const { groupPriorityMinimum = 0, versionPriority = 0 } = merged.registration(name)?.spec ?? {};
  const groupPriority = entry.group === FIRST ? Number.POSITIVE_INFINITY : groupPriorityMinimum;
  entries.set(name, { ...entry, name, groupPriority, versionPriority });
}

function groupedByPriority(entries: readonly RankedVersion[]): readonly GroupVersions[] {
  const groups = new Map<string, RankedVersion[]>();
  const ranked = entries.toSorted((a, b) => compare(b.groupPriority, a.groupPriority) || compare(a.name, b.name));
  for (const entry of ranked) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups].map(([group, versions]) => ({ group, versions: versions.toSorted(byPreference) }));
}

function byPreference(a: RankedVersion, b: RankedVersion): number {
  return compare(b.versionPriority, a.versionPriority) || byVersionPriority(a.version, b.version);
}

function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
