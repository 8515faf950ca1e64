import type { core } from '#api';
import { formatTime, withCondition, withoutCondition } from '#machinery';
import { isPodAvailable, isPodReady } from '../runtime/pod-state.ts';
import { podsToDelete } from './rank-pods.ts';

/** At most this many pods are made or deleted before the result is looked at. */
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
  /** Those that are the set's own and run or may yet run. */
  readonly active: readonly core.Pod[];
  /** Pods of the same owner's other sets: a node that has several of them can spare one. */
  related(): readonly core.Pod[];
}

export function reconcileReplicas({ replicas }: ReplicaSetView, { active, related }: ObservedPods, now: number): ReplicaAction {
  const missing = replicas - active.length;
  if (missing === 0) return { type: 'none' };
  if (missing > 0) return { type: 'create', count: Math.min(missing, BURST_REPLICAS) };
  const count = Math.min(-missing, BURST_REPLICAS);
  return { type: 'delete', pods: podsToDelete(active, related(), { count, now }) };
}

export interface ReplicaCounts {
  readonly replicas: number;
  readonly fullyLabeledReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
}

export function countReplicas({ minReadySeconds, templateLabels }: ReplicaSetView, pods: readonly core.Pod[], now: number): ReplicaCounts {
  const wanted = Object.entries(templateLabels);
  const isFullyLabeled = ({ metadata }: core.Pod) => wanted.every(([key, value]) => metadata.labels?.[key] === value);
  return {
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter(isFullyLabeled).length,
    readyReplicas: pods.filter(isPodReady).length,
    availableReplicas: pods.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
  };
}

export interface ReplicaCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface ReplicaFailure {
  /** Less than 0 when pods were to be made. */
  readonly surplus: number;
  readonly message: string;
}

/** ReplicaFailure says what first went wrong, until all goes well. */
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
