import type { CacheState, Snapshot } from '../../watch-cache/resource-cache.ts';
import type { ResourceTable } from './resource-table.ts';

/**
 * The decoded built-in objects of a server at one moment. A server on a copy of the store starts with them instead of reading and
 * decoding its own. Custom resources are excluded: their decoding depends on CRDs, which may change.
 */
export interface CachedObjects {
  /** The revision of the store. */
  readonly revision: number;
  /** By `group/resource`; without resources that were never read. */
  readonly snapshots: ReadonlyMap<string, Snapshot>;
}

/** The current state of the caches. Only for stores that notify watchers before they acknowledge a write. */
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
