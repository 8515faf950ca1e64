import { difference, hasPath, isEmpty, setOfPaths } from './field-set.ts';
import { copyOwner, decodeOwners, encodeOwners, type ManagedFieldsEntry, type Owner, type OwnerId, ownerId, withSet } from './owners.ts';
import { fieldElement } from './path-element.ts';

/** Where a resource keeps its replicas, by apiVersion: `{ 'apps/v1': ['spec', 'replicas'] }`. Undefined for a version that has no scale. */
export type ReplicasPaths = Readonly<Record<string, readonly string[] | undefined>>;

const SCALE_VERSION = 'autoscaling/v1';
const SCALE_REPLICAS = ['spec', 'replicas'].map(fieldElement);

/** The managedFields of a resource as its scale subresource shows them: the owners of the replicas. */
export function scaleManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const owners = new Map<OwnerId, Owner>();
  for (const owner of decodeOwners(entries).values()) {
    const path = paths[owner.apiVersion]?.map(fieldElement);
    if (path === undefined || !hasPath(owner.set, path)) continue;
    owners.set(owner.id, copyOwner(owner, { set: setOfPaths([SCALE_REPLICAS]), apiVersion: SCALE_VERSION }));
  }
  return encodeOwners(owners);
}

interface ScaleUpdate {
  /** The resource's own entries, before the update of its scale. */
  readonly entries: readonly ManagedFieldsEntry[] | undefined;
  /** The entries of the scale object after the update. */
  readonly scaleEntries: readonly ManagedFieldsEntry[] | undefined;
  readonly apiVersion: string;
  readonly paths: ReplicasPaths;
}

/** Maps ownership changes of the scale subresource back to the resource. */
export function managedFieldsAfterScale({
  entries,
  scaleEntries,
  apiVersion,
  paths,
}: ScaleUpdate): readonly ManagedFieldsEntry[] | undefined {
  const before = decodeOwners(entries);
  const scaleOwners = byScaleIdentity(scaleEntries);
  const result = new Map<OwnerId, Owner>();
  for (const owner of before.values()) {
    if (!(owner.apiVersion in paths)) continue;
    const path = paths[owner.apiVersion]?.map(fieldElement);
    if (path === undefined || !hasPath(owner.set, path)) {
      result.set(owner.id, owner);
      continue;
    }
    if (scaleOwners.delete(scaleIdentity(owner))) {
      result.set(owner.id, owner);
      continue;
    }
    const set = difference(owner.set, setOfPaths([path]));
    if (!isEmpty(set)) result.set(owner.id, withSet(owner, set));
  }
  const replicas = paths[apiVersion]?.map(fieldElement);
  for (const owner of scaleOwners.values()) {
    if (replicas === undefined || !hasPath(owner.set, SCALE_REPLICAS)) continue;
    const moved = copyOwner(owner, { set: setOfPaths([replicas]), apiVersion, time: undefined });
    const id = ownerId(moved);
    result.set(id, { ...moved, id, time: before.get(id)?.time });
  }
  return encodeOwners(result);
}

// An entry in the scale's version is the resource's entry of the same manager, in any version.
function byScaleIdentity(entries: readonly ManagedFieldsEntry[] | undefined): Map<OwnerId, Owner> {
  return new Map([...decodeOwners(entries).values()].map((owner) => [scaleIdentity(owner), owner]));
}

function scaleIdentity(owner: Owner): OwnerId {
  return ownerId({ ...owner, apiVersion: SCALE_VERSION });
}
