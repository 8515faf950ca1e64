import { type apps, core } from '#api';
import { compareBytes, type JsonObject, parseTime, semanticEqual } from '#machinery';

type ReplicaSet = apps.ReplicaSet;

export const TEMPLATE_HASH_LABEL = 'pod-template-hash';

/** The replica sets of a deployment: the one with its current template, if it exists, and all others. */
export interface OwnedReplicaSets {
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

export function replicasOf({ spec }: ReplicaSet): number {
  return spec?.replicas ?? 1;
}

export function availableOf({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}

export function sumOf(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number): number {
  return sets.reduce((sum, set) => sum + count(set), 0);
}

export function isActive(set: ReplicaSet): boolean {
  return replicasOf(set) > 0;
}

export function allOf({ current, old }: OwnedReplicaSets): readonly ReplicaSet[] {
  return current === undefined ? old : [...old, current];
}

export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  return createdAt(a) - createdAt(b) || compareBytes(a.metadata.name, b.metadata.name);
}

function createdAt({ metadata }: ReplicaSet): number {
  return metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : 0;
}

/** Of several sets with the current template the oldest is current, so that all controllers choose the same. */
export function classify(deployment: apps.Deployment, sets: readonly ReplicaSet[]): OwnedReplicaSets {
  const { template } = deployment.spec ?? {};
  const current = [...sets].sort(byCreation).find(({ spec }) => sameTemplate(spec?.template, template));
  return { current, old: sets.filter((set) => set !== current) };
}

/** Equal except for the pod-template-hash label, which the deployment adds. */
export function sameTemplate(a: core.PodTemplateSpec | undefined, b: core.PodTemplateSpec | undefined): boolean {
  return semanticEqual(withoutHash(a) as JsonObject, withoutHash(b) as JsonObject, core.PodTemplateSpec);
}

export function withoutHash(template: core.PodTemplateSpec | undefined): core.PodTemplateSpec {
  const { [TEMPLATE_HASH_LABEL]: hash, ...labels } = template?.metadata?.labels ?? {};
  return hash === undefined ? (template ?? {}) : { ...template, metadata: { ...template?.metadata, labels } };
}
