import { core } from '#api';
import { type LabelSelectorObject, type Labels, lenientSelector, Quantity } from '#machinery';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { ClusterObjects } from '../../framework/plugin.ts';
import { annotationOf, classOfClaim, classOfVolume, SELECTED_NODE } from '../../framework/volume-claims.ts';

export interface StaticBinding {
  readonly claim: core.PersistentVolumeClaim;
  readonly volume: core.PersistentVolume;
}

export interface NodeVolumes {
  /** Volumes that exist, to be bound. */
  readonly bindings: readonly StaticBinding[];
  /** Claims for which the class's driver will provision a volume. */
  readonly provisions: readonly core.PersistentVolumeClaim[];
}

export type BindingFailure = 'no-volume' | 'no-space';

interface Search {
  readonly volumes: readonly core.PersistentVolume[];
  readonly objects: ClusterObjects;
}

/** Finds a volume for each claim on the node, the smallest claim first; the remaining claims must be provisioned. */
export function findVolumes(claims: readonly core.PersistentVolumeClaim[], node: NodeInfo, search: Search): NodeVolumes | BindingFailure {
  const chosen = new Set<string>();
  const bindings: StaticBinding[] = [];
  const provisions: core.PersistentVolumeClaim[] = [];
  for (const claim of [...claims].sort(compareSizes)) {
    const free = search.volumes.filter(({ metadata }) => !chosen.has(metadata.name));
    // The claim's volume is already being provisioned for the node.
    const isPromised = annotationOf(claim as never, SELECTED_NODE) !== undefined;
    const volume = isPromised ? undefined : smallestVolume(claim, node, free);
    if (volume === undefined) {
      const failure = whyNotProvisioned(claim, node, search.objects);
      if (failure !== undefined) return failure;
      provisions.push(claim);
    } else {
      chosen.add(volume.metadata.name);
      bindings.push({ claim, volume });
    }
  }
  return { bindings, provisions };
}

function compareSizes(a: core.PersistentVolumeClaim, b: core.PersistentVolumeClaim): number {
  return requested(a).compare(requested(b));
}

function requested({ spec }: core.PersistentVolumeClaim): Quantity {
  return Quantity.fromJson((spec?.resources?.requests as Labels | undefined)?.storage ?? '0');
}

function capacityOf({ spec }: core.PersistentVolume): Quantity {
  return Quantity.fromJson((spec?.capacity as Labels | undefined)?.storage ?? '0');
}

function smallestVolume(
  claim: core.PersistentVolumeClaim,
  node: NodeInfo,
  volumes: readonly core.PersistentVolume[],
): core.PersistentVolume | undefined {
  const size = requested(claim);
  let best: core.PersistentVolume | undefined;
  for (const volume of volumes) {
    if (!sameMode(claim, volume) || volume.metadata.deletionTimestamp != null) continue;
    if (!reachesNode(volume, node) || capacityOf(volume).compare(size) < 0) continue;
    if (isClaimedBy(volume, claim)) return volume;
    if (!isFreeFor(claim, volume)) continue;
    if (best === undefined || capacityOf(volume).compare(capacityOf(best)) < 0) best = volume;
  }
  return best;
}

function sameMode(claim: core.PersistentVolumeClaim, volume: core.PersistentVolume): boolean {
  return (claim.spec?.volumeMode ?? 'Filesystem') === (volume.spec?.volumeMode ?? 'Filesystem');
}

/** Whether the volume can be used on the node at all. */
export function reachesNode({ spec }: core.PersistentVolume, node: NodeInfo): boolean {
  return core.compileNodeSelector(spec?.nodeAffinity?.required)?.matches(node) ?? true;
}

function isClaimedBy({ spec }: core.PersistentVolume, { metadata }: core.PersistentVolumeClaim): boolean {
  const ref = spec?.claimRef;
  if (ref == null || ref.name !== metadata.name || ref.namespace !== metadata.namespace) return false;
  return !ref.uid || ref.uid === metadata.uid;
}

function isFreeFor(claim: core.PersistentVolumeClaim, volume: core.PersistentVolume): boolean {
  if (volume.spec?.claimRef != null || volume.status?.phase !== 'Available') return false;
  if (classOfVolume(volume) !== classOfClaim(claim)) return false;
  const selector = claim.spec?.selector as LabelSelectorObject | undefined | null;
  if (selector != null && !lenientSelector(selector).matches(volume.metadata.labels as Labels | undefined)) return false;
  const modes = new Set(volume.spec?.accessModes ?? []);
  return (claim.spec?.accessModes ?? []).every((mode) => modes.has(mode));
}

function whyNotProvisioned(claim: core.PersistentVolumeClaim, node: NodeInfo, objects: ClusterObjects): BindingFailure | undefined {
  const storageClass = objects.storageClasses.get({ name: classOfClaim(claim) });
  const provisioner = storageClass?.provisioner ?? '';
  if (storageClass === undefined || provisioner === '' || provisioner === 'kubernetes.io/no-provisioner') return 'no-volume';
  if (!allowsNode(storageClass.allowedTopologies ?? [], node)) return 'no-volume';
  if (objects.csiDrivers.get({ name: provisioner })?.spec?.storageCapacity !== true) return undefined;
  const size = requested(claim);
  const hasSpace = objects.csiStorageCapacities.list().some(({ storageClassName, nodeTopology, maximumVolumeSize, capacity }) => {
    if (storageClassName !== storageClass.metadata.name || nodeTopology == null) return false;
    const limit = (maximumVolumeSize ?? capacity) as string | undefined;
    if (limit == null || Quantity.fromJson(limit).compare(size) < 0) return false;
    return lenientSelector(nodeTopology as LabelSelectorObject).matches(node.labels);
  });
  return hasSpace ? undefined : 'no-space';
}

function allowsNode(terms: readonly core.TopologySelectorTerm[], { labels }: NodeInfo): boolean {
  if (terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions }) =>
    (matchLabelExpressions ?? []).every(({ key, values }) => values.includes(labels[key] as string)),
  );
}
