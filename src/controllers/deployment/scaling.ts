import type { apps } from '#api';
import { scaledIntOrPercent } from '#machinery';
import { DESIRED_REPLICAS, MAX_REPLICAS, parseCount } from './annotations.ts';
import { allOf, availableOf, byCreation, isActive, type KnownReplicaSets, replicasOf, sumOf } from './replica-sets.ts';

type ReplicaSet = apps.ReplicaSet;
type Deployment = apps.Deployment;

/** A replica set and how many pods it should want. */
export interface Scale {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

export function wantedReplicas({ spec }: Deployment): number {
  return spec?.replicas ?? 1;
}

export function isRollingUpdate({ spec }: Deployment): boolean {
  return spec?.strategy?.type === 'RollingUpdate';
}

/** Percentages are of the wanted replicas. Both cannot be 0, or nothing could ever move. */
function fenceposts(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge: surgeText = 0, maxUnavailable: unavailableText = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const wanted = wantedReplicas(deployment);
  const surge = scaledIntOrPercent(surgeText, wanted, 'up');
  const unavailable = scaledIntOrPercent(unavailableText, wanted, 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function maxSurge(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? fenceposts(deployment).surge : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const wanted = wantedReplicas(deployment);
  if (!isRollingUpdate(deployment) || wanted === 0) return 0;
  return Math.min(fenceposts(deployment).unavailable, wanted);
}

/** The deployment's size changed since its sets were last sized. */
export function isScalingEvent(deployment: Deployment, sets: KnownReplicaSets): boolean {
  const wanted = wantedReplicas(deployment);
  return allOf(sets)
    .filter(isActive)
    .some((set) => {
      const desired = parseCount(set.metadata.annotations?.[DESIRED_REPLICAS]);
      return desired !== undefined && desired !== wanted;
    });
}

/** How many pods the set with the current template should want next. */
export function currentSetReplicas(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const wanted = wantedReplicas(deployment);
  if (!isRollingUpdate(deployment)) return wanted;
  const room = wanted + maxSurge(deployment) - sumOf(all, replicasOf);
  return room <= 0 ? current : current + Math.min(room, wanted - current);
}

/** Sizes for a deployment whose size changed, or that is paused: what is being rolled out keeps its proportions. */
export function resize(deployment: Deployment, sets: KnownReplicaSets): readonly Scale[] {
  const wanted = wantedReplicas(deployment);
  const sole = activeOrLatest(sets);
  if (sole !== undefined) return replicasOf(sole) === wanted ? [] : [{ set: sole, replicas: wanted }];
  if (isSaturated(deployment, sets.current)) return sets.old.filter(isActive).map((set) => ({ set, replicas: 0 }));
  return isRollingUpdate(deployment) ? proportional(deployment, allOf(sets).filter(isActive)) : [];
}

function activeOrLatest({ current, old }: KnownReplicaSets): ReplicaSet | undefined {
  const newestFirst = [...old].sort((a, b) => byCreation(b, a));
  const active = [...newestFirst, ...(current ? [current] : [])].filter(isActive);
  if (active.length > 1) return undefined;
  return active[0] ?? current ?? newestFirst[0];
}

function isSaturated(deployment: Deployment, set: ReplicaSet | undefined): boolean {
  if (set === undefined) return false;
  const wanted = wantedReplicas(deployment);
  const desired = parseCount(set.metadata.annotations?.[DESIRED_REPLICAS]);
  return replicasOf(set) === wanted && desired === wanted && availableOf(set) === wanted;
}

function proportional(deployment: Deployment, sets: readonly ReplicaSet[]): readonly Scale[] {
  const wanted = wantedReplicas(deployment);
  const allowed = wanted > 0 ? wanted + maxSurge(deployment) : 0;
  const toAdd = allowed - sumOf(sets, replicasOf);
  // The largest first; of equal ones the newer gain, and the older lose.
  const byAge = toAdd > 0 ? (a: ReplicaSet, b: ReplicaSet) => byCreation(b, a) : byCreation;
  const sorted = [...sets].sort((a, b) => replicasOf(b) - replicasOf(a) || byAge(a, b));
  let added = 0;
  const scales = sorted.map((set) => {
    const share = toAdd === added ? 0 : bounded(proportionOf(set, deployment), toAdd - added);
    added += share;
    return { set, replicas: replicasOf(set) + share };
  });
  // What rounding left over is the largest's.
  return scales.map((scale, i) => (i === 0 ? { ...scale, replicas: Math.max(0, scale.replicas + toAdd - added) } : scale));
}

function bounded(share: number, left: number): number {
  return left > 0 ? Math.min(share, left) : Math.max(share, left);
}

function proportionOf(set: ReplicaSet, deployment: Deployment): number {
  const wanted = wantedReplicas(deployment);
  const replicas = replicasOf(set);
  if (wanted === 0) return -replicas;
  const before = parseCount(set.metadata.annotations?.[MAX_REPLICAS]) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return roundHalfAway((replicas * (wanted + maxSurge(deployment))) / before) - replicas;
}

function roundHalfAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}

/** The next step of a rolling update: first what is new grows, then what is old shrinks as far as availability allows. */
export function rollingStep(deployment: Deployment, sets: KnownReplicaSets): readonly Scale[] {
  const { current } = sets;
  if (current === undefined) return [];
  const grown = growCurrent(deployment, sets, current);
  return grown.length > 0 ? grown : shrinkOld(deployment, sets, current);
}

function growCurrent(deployment: Deployment, sets: KnownReplicaSets, current: ReplicaSet): readonly Scale[] {
  const wanted = wantedReplicas(deployment);
  const replicas = replicasOf(current);
  if (replicas === wanted) return [];
  if (replicas > wanted) return [{ set: current, replicas: wanted }];
  const next = currentSetReplicas(deployment, allOf(sets), replicas);
  return next === replicas ? [] : [{ set: current, replicas: next }];
}

function shrinkOld(deployment: Deployment, sets: KnownReplicaSets, current: ReplicaSet): readonly Scale[] {
  const old = sets.old.filter(isActive).sort(byCreation);
  // What a set last said of itself may be older than what it was last told: taking more away then could take too much.
  if (old.length === 0 || !allOf(sets).every(isUpToDate)) return [];
  const minAvailable = wantedReplicas(deployment) - maxUnavailable(deployment);
  // New pods that are not available yet count as missing, whatever becomes of the old ones.
  const currentUnavailable = replicasOf(current) - surelyAvailable(current);
  const mayGo = sumOf(allOf({ current, old }), replicasOf) - minAvailable - currentUnavailable;
  if (mayGo <= 0) return [];
  const sizes = new Map(old.map((set) => [set, replicasOf(set)]));
  take(old, mayGo, sizes, (set) => replicasOf(set) - surelyAvailable(set));
  const spare = sumOf([...old, current], surelyAvailable) - minAvailable;
  if (spare > 0) take(old, spare, sizes, (set) => sizes.get(set) ?? 0);
  return old.flatMap((set) => (sizes.get(set) === replicasOf(set) ? [] : [{ set, replicas: sizes.get(set) ?? 0 }]));
}

function isUpToDate({ metadata, status }: ReplicaSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Pods beyond the size of a set are about to go, whatever it still counts. */
function surelyAvailable(set: ReplicaSet): number {
  return Math.min(availableOf(set), replicasOf(set));
}

/** Takes up to `count` from the sets in order, from each what it has to give. */
function take(sets: readonly ReplicaSet[], count: number, sizes: Map<ReplicaSet, number>, givable: (set: ReplicaSet) => number): void {
  let left = count;
  for (const set of sets) {
    const size = sizes.get(set) ?? 0;
    const taken = Math.max(0, Math.min(left, givable(set), size));
    sizes.set(set, size - taken);
    left -= taken;
  }
}
