import type { core } from '#api';
import { formatTime, withCondition, withoutCondition } from '#machinery';
import { isPodAvailable, isPodReady } from '../pod-state.ts';
import { withoutZeros } from '../without-zeros.ts';
import { podsToDelete } from './rank-pods.ts';

/** At most this many pods are created or deleted per sync. */
export const BURST_REPLICAS = 500;

/** What ReplicaSet and ReplicationController have in common. */
export interface ReplicaSetView {
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly templateLabels: Readonly<Record<string, string>>;
}

export type ReplicaAction =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly count: number }
  | { readonly type: 'delete'; readonly pods: readonly core.Pod[] };

export interface ObservedPods {
  /** How many active pods the set has. */
  readonly count: number;
  /** These pods. */
  active(): readonly core.Pod[];
  /** Pods of sets with the same owner, for ranking by node. */
  related(): readonly core.Pod[];
}

export function reconcileReplicas({ replicas }: ReplicaSetView, pods: ObservedPods, now: number): ReplicaAction {
  const missing = replicas - pods.count;
  if (missing === 0) return { type: 'none' };
  if (missing > 0) return { type: 'create', count: Math.min(missing, BURST_REPLICAS) };
  const count = Math.min(-missing, BURST_REPLICAS);
  return { type: 'delete', pods: podsToDelete(pods.active(), pods.related(), { count, now }) };
}

export interface ReplicaCounts {
  readonly replicas: number;
  readonly fullyLabeledReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
}

export function countReplicas({ minReadySeconds, templateLabels }: ReplicaSetView, pods: readonly core.Pod[], now: number): ReplicaCounts {
  const labels = Object.entries(templateLabels);
  const counts = { replicas: pods.length, fullyLabeledReplicas: 0, readyReplicas: 0, availableReplicas: 0 };
  for (const pod of pods) {
    if (hasLabels(pod, labels)) counts.fullyLabeledReplicas++;
    if (!isPodReady(pod)) continue;
    counts.readyReplicas++;
    if (isPodAvailable(pod, minReadySeconds, now)) counts.availableReplicas++;
  }
  return counts;
}

export function hasLabels({ metadata }: core.Pod, labels: readonly (readonly [string, string])[]): boolean {
  for (const [key, value] of labels) if (metadata.labels?.[key] !== value) return false;
  return true;
}

export interface ReplicaCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface ReplicaFailure {
  /** Negative when pods were to be created. */
  readonly surplus: number;
  readonly message: string;
}

export interface ObservedReplicas {
  readonly counts: ReplicaCounts;
  readonly terminating: number;
  readonly failure: ReplicaFailure | undefined;
  readonly now: number;
}

/** The part of a set that `replicaStatus` reads. */
export interface ReplicaSetFields<C> {
  readonly metadata: { readonly generation?: number };
  readonly spec?: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
  };
  readonly status?: { readonly conditions?: readonly C[] };
}

export function replicaSetView({ spec }: ReplicaSetFields<unknown>): ReplicaSetView {
  const { replicas = 1, minReadySeconds = 0, template } = spec ?? {};
  return { replicas, minReadySeconds, templateLabels: template?.metadata?.labels ?? {} };
}

/** The status fields of both kinds. */
export function replicaStatus<C extends ReplicaCondition>(set: ReplicaSetFields<C>, { counts, failure, now }: ObservedReplicas) {
  const { replicas, ...others } = counts;
  const conditions = [...failureConditions(set.status?.conditions, failure, now)];
  const { generation = 0 } = set.metadata;
  return { replicas, ...withoutZeros({ ...others, conditions, observedGeneration: generation }) };
}

/** ReplicaFailure carries the first error until a sync succeeds. */
export function failureConditions<C extends ReplicaCondition>(
  conditions: readonly C[] | undefined,
  failure: ReplicaFailure | undefined,
  now: number,
): readonly C[] {
  const type = 'ReplicaFailure';
  if (failure === undefined) return withoutCondition(conditions, type);
  if (conditions?.some((condition) => condition.type === type)) return conditions;
  const { surplus, message } = failure;
  const reason = surplus < 0 ? 'FailedCreate' : 'FailedDelete';
  return withCondition(conditions, { type, status: 'True', ...(surplus !== 0 && { reason }), message } as C, formatTime(now));
}
