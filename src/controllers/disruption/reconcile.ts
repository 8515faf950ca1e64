import type { core, policy } from '#api';
import { deepEqual, findCondition, formatTime, parseTime, scaledIntOrPercent, withCondition } from '#machinery';
import { isPodActive, isPodReady } from '../runtime/pod-state.ts';

type Budget = policy.PodDisruptionBudget;

/** A pod whose eviction was granted and that is still there after this time is counted again. */
const DELETION_TIMEOUT_MS = 120_000;
/** As long a pod may claim to be about to go without going. */
const STALE_TARGET_MS = 120_000;

/** Whether the number of pods that should be there must be asked of those who own them. */
export function needsScale({ spec }: Budget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';
}

export interface BudgetVerdict {
  /** The budget with its status as it should be; the same object when it is so. */
  readonly budget: Budget;
  /** Pods that should have gone, and did not. */
  readonly overdue: readonly core.Pod[];
  /** When to look again, in milliseconds. */
  readonly recheckMs: number | undefined;
}

/** `scale`: how many pods there should be, where the budget needs that. */
export function judgeBudget(
  budget: Budget,
  pods: readonly core.Pod[],
  { scale, now }: { readonly scale: number; readonly now: number },
): BudgetVerdict {
  const { expectedPods, desiredHealthy } = expectations(budget, pods.length, scale);
  const { disruptedPods, overdue, recheckMs } = stillDisrupted(budget, pods, now);
  const counts = (pod: core.Pod) => pod.metadata.deletionTimestamp === undefined && disruptedPods[pod.metadata.name] === undefined;
  const currentHealthy = pods.filter((pod) => counts(pod) && isPodReady(pod)).length;
  const spare = currentHealthy - desiredHealthy;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, spare);
  const { generation: observedGeneration = 0 } = budget.metadata;
  const verdict = disruptionsAllowed > 0 ? { status: 'True', reason: 'SufficientPods' } : { status: 'False', reason: 'InsufficientPods' };
  const condition = { type: 'DisruptionAllowed', ...verdict, message: '', observedGeneration, lastTransitionTime: formatTime(now) };
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

/** The budget when its state cannot be found out: nothing may be evicted. */
export function failedBudget(budget: Budget, message: string, now: number): Budget {
  const { observedGeneration } = budget.status ?? {};
  const observed = observedGeneration === undefined ? {} : { observedGeneration };
  const lastTransitionTime = formatTime(now);
  const condition = { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message, ...observed, lastTransitionTime };
  const conditions = [...withCondition(budget.status?.conditions, condition, lastTransitionTime)];
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {};
  return { ...budget, status: { ...budget.status, currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed: 0, conditions } };
}

/** How long until a pod's claim to be about to go is no longer true; undefined when it makes none, or goes. */
export function staleTargetMs(pod: core.Pod, now: number): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'DisruptionTarget');
  // A kubelet that ends a pod may take any time until the pod is deleted.
  const isClaimed = condition?.status === 'True' && condition.reason !== 'TerminationByKubelet';
  if (!isClaimed || !isPodActive(pod)) return undefined;
  return Math.max(0, parseTime(condition.lastTransitionTime ?? '') + STALE_TARGET_MS - now);
}
