import type { core, policy } from '#api';
import { deepEqual, findCondition, formatTime, parseTime, scaledIntOrPercent, withCondition } from '#machinery';
import { isPodActive, isPodReady } from '../runtime/pod-state.ts';

type Budget = policy.PodDisruptionBudget;

/** An evicted pod that still exists after this time counts again. */
const DELETION_TIMEOUT_MS = 120_000;
/** A DisruptionTarget condition is stale after this time without a deletion. */
const STALE_TARGET_MS = 120_000;

/** Whether the expected pod count comes from the owners' scale. */
export function needsScale({ spec }: Budget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';
}

export interface BudgetEvaluation {
  /** The budget with the desired status; the same object if unchanged. */
  readonly budget: Budget;
  /** Evicted pods that were not deleted in time. */
  readonly overdue: readonly core.Pod[];
  /** When to check again, in milliseconds. */
  readonly recheckMs: number | undefined;
}

/** `scale`: the expected number of pods, for budgets that need it. */
export function evaluateBudget(
  budget: Budget,
  pods: readonly core.Pod[],
  { scale, now }: { readonly scale: number; readonly now: number },
): BudgetEvaluation {
  const { expectedPods, desiredHealthy } = expectations(budget, pods.length, scale);
  const { disruptedPods, overdue, recheckMs } = stillDisrupted(budget, pods, now);
  const counts = (pod: core.Pod) => pod.metadata.deletionTimestamp === undefined && disruptedPods[pod.metadata.name] === undefined;
  const currentHealthy = pods.filter((pod) => counts(pod) && isPodReady(pod)).length;
  const spare = currentHealthy - desiredHealthy;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, spare);
  const { generation: observedGeneration = 0 } = budget.metadata;
  const statusAndReason =
    disruptionsAllowed > 0 ? { status: 'True', reason: 'SufficientPods' } : { status: 'False', reason: 'InsufficientPods' };
  const condition = { type: 'DisruptionAllowed', ...statusAndReason, message: '', observedGeneration, lastTransitionTime: formatTime(now) };
  const status = {
    ...(observedGeneration > 0 && { observedGeneration }),
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: [...withCondition(budget.status?.conditions, condition, formatTime(now))],
  };
  return { budget: deepEqual(status, budget.status) ? budget : { ...budget, status }, overdue, recheckMs };
}

function expectations({ spec }: Budget, pods: number, scale: number): { readonly expectedPods: number; readonly desiredHealthy: number } {
  if (spec?.maxUnavailable !== undefined) {
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - scaledIntOrPercent(spec.maxUnavailable, scale, 'up')) };
  }
  const { minAvailable } = spec ?? {};
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  if (typeof minAvailable === 'number') return { expectedPods: pods, desiredHealthy: minAvailable };
  return { expectedPods: scale, desiredHealthy: scaledIntOrPercent(minAvailable, scale, 'up') };
}

function stillDisrupted({ status }: Budget, pods: readonly core.Pod[], now: number) {
  const disruptedPods: Record<string, string> = {};
  const overdue: core.Pod[] = [];
  let recheckMs: number | undefined;
  for (const pod of pods) {
    const since = status?.disruptedPods?.[pod.metadata.name];
    if (since === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const left = parseTime(since) + DELETION_TIMEOUT_MS - now;
    if (left < 0) overdue.push(pod);
    else {
      disruptedPods[pod.metadata.name] = since;
      recheckMs = Math.min(recheckMs ?? Infinity, left);
    }
  }
  return { disruptedPods, overdue, recheckMs };
}

/** The budget if its state is unknown: no disruptions allowed. */
export function failedBudget(budget: Budget, message: string, now: number): Budget {
  const { observedGeneration } = budget.status ?? {};
  const observed = observedGeneration === undefined ? {} : { observedGeneration };
  const lastTransitionTime = formatTime(now);
  const condition = { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message, ...observed, lastTransitionTime };
  const conditions = [...withCondition(budget.status?.conditions, condition, lastTransitionTime)];
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {};
  return { ...budget, status: { ...budget.status, currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed: 0, conditions } };
}

/** How long until the pod's DisruptionTarget condition is stale; undefined when it has none or is being deleted. */
export function staleTargetMs(pod: core.Pod, now: number): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'DisruptionTarget');
  // The kubelet may take any time to terminate a pod: its own condition does not become stale.
  const isClaimed = condition?.status === 'True' && condition.reason !== 'TerminationByKubelet';
  if (!isClaimed || !isPodActive(pod)) return undefined;
  return Math.max(0, parseTime(condition.lastTransitionTime ?? '') + STALE_TARGET_MS - now);
}
