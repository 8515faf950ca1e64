import type { meta, policy } from '#api';
import { formatTime, StatusError } from '#machinery';

type Budget = policy.PodDisruptionBudget;
type BudgetStatus = NonNullable<Budget['status']>;

const WOULD_VIOLATE = "Cannot evict pod as it would violate the pod's disruption budget.";
/** The maximum number of recorded evictions that the controller has not processed. */
const MAX_DISRUPTED_PODS = 2000;

/** Takes one disruption from the budget and records the pod. Throws if none is allowed. */
export function consumeDisruption(budget: Budget, pod: string, now: number): Budget {
  const status = budget.status ?? ({} as BudgetStatus);
  const { name = '', generation = 0 } = budget.metadata;
  if ((status.observedGeneration ?? 0) < generation) throw stillProcessing(budget);
  const allowed = status.disruptionsAllowed ?? 0;
  const forbidden = (detail: string) => StatusError.forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, detail);
  if (allowed < 0) throw forbidden('pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS) {
    throw forbidden('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) throw tooManyRequests(whyNone(name, status), 0);
  const decremented = { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...status.disruptedPods, [pod]: formatTime(now) } };
  return { ...budget, status: allowed > 1 ? decremented : { ...decremented, conditions: exhausted(status, now) } };
}

function whyNone(name: string, { conditions, currentHealthy = 0, desiredHealthy = 0 }: BudgetStatus): string {
  const condition = conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const blocked = condition?.status === 'False' && condition.message ? condition : undefined;
  if (blocked?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${blocked.message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  if (blocked) return `The disruption budget ${name} does not allow evicting pods currently (${blocked.reason}): ${blocked.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

/** The budget's status is outdated: 429, retry later. */
export function stillProcessing({ metadata }: Budget): StatusError {
  return tooManyRequests(`The disruption budget ${metadata.name} is still being processed by the server.`, 10);
}

function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  const details = { causes: [{ reason: 'DisruptionBudget', message }], retryAfterSeconds };
  return new StatusError({ code: 429, reason: 'TooManyRequests', message: WOULD_VIOLATE, details });
}

function exhausted({ conditions = [], observedGeneration }: BudgetStatus, now: number): readonly meta.Condition[] {
  const before = conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const lastTransitionTime = before?.status === 'False' ? before.lastTransitionTime : formatTime(now);
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration && { observedGeneration }),
    lastTransitionTime,
    reason: 'InsufficientPods',
    message: '',
  } as meta.Condition;
  return before ? conditions!.map((existing) => (existing === before ? condition : existing)) : [...(conditions ?? []), condition];
}
