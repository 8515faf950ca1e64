import type { CacheState, Snapshot } from '../watch-cache/resource-cache.ts';
import type { ResourceTable } from './resource-table.ts';

/**
 * The built-in objects that a server holds at one moment, decoded. A server on a copy of the store begins with them, instead of reading and
 * decoding its own. Custom resources are not among them: how they are read depends on their definitions, which may change.
 */
export interface CachedObjects {
  /** The revision of the store. */
  readonly revision: number;
  /** By `group/resource`. Those of which nobody has asked yet are missing. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
}

/** Of a store whose watchers are told of a write before it is acknowledged, what its caches show right now. */
export function snapshotsOf(table: ResourceTable): CachedObjects['snapshots'] {
  const snapshots = new Map<string, Snapshot>();
  for (const { storage, custom, group, resource } of table.all()) {
    if (storage?.isCurrent && !custom) snapshots.set(`${group}/${resource}`, storage.cache.snapshot());
  }
  return snapshots;
}

export function inheritedState(
  inherited: CachedObjects | undefined,
  { group, resource }: { readonly group: string; readonly resource: string },
): CacheState | undefined {
  const objects = inherited?.snapshots.get(`${group}/${resource}`);
  return objects && { revision: inherited!.revision, objects };
}
