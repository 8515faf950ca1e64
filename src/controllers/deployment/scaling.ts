import type { apps } from '#api';
import { scaledIntOrPercent } from '#machinery';
import { DESIRED_REPLICAS, MAX_REPLICAS, parseCount } from './annotations.ts';
import { allOf, availableOf, byCreation, isActive, type OwnedReplicaSets, replicasOf, sumOf } from './replica-sets.ts';

type ReplicaSet = apps.ReplicaSet;
type Deployment = apps.Deployment;

/** A replica set and its desired size. */
export interface Scale {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

export function replicasInSpec({ spec }: Deployment): number {
  return spec?.replicas ?? 1;
}

export function isRollingUpdate({ spec }: Deployment): boolean {
  return spec?.strategy?.type === 'RollingUpdate';
}

/** Percentages of the desired replicas. Both cannot resolve to 0, or the rollout could not proceed. */
function fenceposts(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge: surgeText = 0, maxUnavailable: unavailableText = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const desired = replicasInSpec(deployment);
  const surge = scaledIntOrPercent(surgeText, desired, 'up');
  const unavailable = scaledIntOrPercent(unavailableText, desired, 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function maxSurge(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? fenceposts(deployment).surge : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const desired = replicasInSpec(deployment);
  if (!isRollingUpdate(deployment) || desired === 0) return 0;
  return Math.min(fenceposts(deployment).unavailable, desired);
}

/** The deployment's size changed since its sets were last sized. */
export function isScalingEvent(deployment: Deployment, sets: OwnedReplicaSets): boolean {
  const desiredReplicas = replicasInSpec(deployment);
  return allOf(sets)
    .filter(isActive)
    .some((set) => {
      const desired = parseCount(set.metadata.annotations?.[DESIRED_REPLICAS]);
      return desired !== undefined && desired !== desiredReplicas;
    });
}

/** The next size of the replica set with the current template. */
export function currentSetReplicas(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const desired = replicasInSpec(deployment);
  if (!isRollingUpdate(deployment)) return desired;
  const freeReplicas = desired + maxSurge(deployment) - sumOf(all, replicasOf);
  return freeReplicas <= 0 ? current : current + Math.min(freeReplicas, desired - current);
}

/** Scales a resized or paused deployment; sets of a rollout keep their proportions. */
export function resize(deployment: Deployment, sets: OwnedReplicaSets): readonly Scale[] {
  const desired = replicasInSpec(deployment);
  const onlySet = activeOrLatest(sets);
  if (onlySet !== undefined) return replicasOf(onlySet) === desired ? [] : [{ set: onlySet, replicas: desired }];
  if (isSaturated(deployment, sets.current)) return sets.old.filter(isActive).map((set) => ({ set, replicas: 0 }));
  return isRollingUpdate(deployment) ? proportional(deployment, allOf(sets).filter(isActive)) : [];
}

function activeOrLatest({ current, old }: OwnedReplicaSets): ReplicaSet | undefined {
  const newestFirst = [...old].sort((a, b) => byCreation(b, a));
  const active = [...newestFirst, ...(current ? [current] : [])].filter(isActive);
  if (active.length > 1) return undefined;
  return active[0] ?? current ?? newestFirst[0];
}

function isSaturated(deployment: Deployment, set: ReplicaSet | undefined): boolean {
  if (set === undefined) return false;
  const desiredReplicas = replicasInSpec(deployment);
  const desired = parseCount(set.metadata.annotations?.[DESIRED_REPLICAS]);
  return replicasOf(set) === desiredReplicas && desired === desiredReplicas && availableOf(set) === desiredReplicas;
}

function proportional(deployment: Deployment, sets: readonly ReplicaSet[]): readonly Scale[] {
  const desired = replicasInSpec(deployment);
  const allowed = desired > 0 ? desired + maxSurge(deployment) : 0;
  const toAdd = allowed - sumOf(sets, replicasOf);
  // The largest first; among equals the newest grow, and the oldest shrink.
  const byAge = toAdd > 0 ? (a: ReplicaSet, b: ReplicaSet) => byCreation(b, a) : byCreation;
  const sorted = [...sets].sort((a, b) => replicasOf(b) - replicasOf(a) || byAge(a, b));
  let added = 0;
  const scales = sorted.map((set) => {
    const share = toAdd === added ? 0 : bounded(proportionOf(set, deployment), toAdd - added);
    added += share;
    return { set, replicas: replicasOf(set) + share };
  });
  // The largest set gets the rounding remainder.
  return scales.map((scale, i) => (i === 0 ? { ...scale, replicas: Math.max(0, scale.replicas + toAdd - added) } : scale));
}

function bounded(share: number, left: number): number {
  return left > 0 ? Math.min(share, left) : Math.max(share, left);
}

function proportionOf(set: ReplicaSet, deployment: Deployment): number {
  const desired = replicasInSpec(deployment);
  const replicas = replicasOf(set);
  if (desired === 0) return -replicas;
  const before = parseCount(set.metadata.annotations?.[MAX_REPLICAS]) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return roundHalfAway((replicas * (desired + maxSurge(deployment))) / before) - replicas;
}

function roundHalfAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}
