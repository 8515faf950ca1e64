import type { apps } from '#api';
import { allOf, availableOf, byCreation, isActive, type OwnedReplicaSets, replicasOf, sumOf } from './replica-sets.ts';
import { currentSetReplicas, maxUnavailable, replicasInSpec, type Scale } from './scaling.ts';

type ReplicaSet = apps.ReplicaSet;
type Deployment = apps.Deployment;

/** The next step of a rolling update: scales up the new set, then scales down old ones as availability allows. */
export function rollingStep(deployment: Deployment, sets: OwnedReplicaSets): readonly Scale[] {
  const { current } = sets;
  if (current === undefined) return [];
  const grown = growCurrent(deployment, sets, current);
  return grown.length > 0 ? grown : shrinkOld(deployment, sets, current);
}

function growCurrent(deployment: Deployment, sets: OwnedReplicaSets, current: ReplicaSet): readonly Scale[] {
  const desired = replicasInSpec(deployment);
  const replicas = replicasOf(current);
  if (replicas === desired) return [];
  if (replicas > desired) return [{ set: current, replicas: desired }];
  const next = currentSetReplicas(deployment, allOf(sets), replicas);
  return next === replicas ? [] : [{ set: current, replicas: next }];
}

function shrinkOld(deployment: Deployment, sets: OwnedReplicaSets, current: ReplicaSet): readonly Scale[] {
  const old = sets.old.filter(isActive).sort(byCreation);
  // Statuses may be older than the last scale: scaling down further could remove too many.
  if (old.length === 0 || !allOf(sets).every(isUpToDate)) return [];
  const minAvailable = replicasInSpec(deployment) - maxUnavailable(deployment);
  // Unavailable new pods count as missing.
  const currentUnavailable = replicasOf(current) - minAvailableReplicas(current);
  const removable = sumOf(allOf({ current, old }), replicasOf) - minAvailable - currentUnavailable;
  if (removable <= 0) return [];
  const sizes = new Map(old.map((set) => [set, replicasOf(set)]));
  take(old, removable, sizes, (set) => replicasOf(set) - minAvailableReplicas(set));
  const spare = sumOf([...old, current], minAvailableReplicas) - minAvailable;
  if (spare > 0) take(old, spare, sizes, (set) => sizes.get(set) ?? 0);
  return old.flatMap((set) => (sizes.get(set) === replicasOf(set) ? [] : [{ set, replicas: sizes.get(set) ?? 0 }]));
}

function isUpToDate({ metadata, status }: ReplicaSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Pods beyond the set's size are about to be deleted. */
function minAvailableReplicas(set: ReplicaSet): number {
  return Math.min(availableOf(set), replicasOf(set));
}

/** Scales sets down in order by `count` in total. */
function take(sets: readonly ReplicaSet[], count: number, sizes: Map<ReplicaSet, number>, givable: (set: ReplicaSet) => number): void {
  let left = count;
  for (const set of sets) {
    const size = sizes.get(set) ?? 0;
    const cut = Math.max(0, Math.min(left, givable(set), size));
    sizes.set(set, size - cut);
    left -= cut;
  }
}
