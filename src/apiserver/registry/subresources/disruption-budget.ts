import type { meta, policy } from '#api';
import { formatTime, StatusError } from '#machinery';

type Budget = policy.PodDisruptionBudget;
type BudgetStatus = NonNullable<Budget['status']>;

const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";
/** So many evictions may wait for the controller to notice them. */
const MAX_DISRUPTED_PODS = 2000;

/** The budget with one disruption less, and the pod noted as going. Throws when it has none to spare. */
export function disrupt(budget: Budget, pod: string, now: number): Budget {
  const status = budget.status ?? ({} as BudgetStatus);
  const { name = '', generation = 0 } = budget.metadata;
  if ((status.observedGeneration ?? 0) < generation) throw stillProcessing(budget);
  const allowed = status.disruptionsAllowed ?? 0;
  const refuse = (why: string) => StatusError.forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if (allowed < 0) throw refuse('pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS) {
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) throw tooManyRequests(whyNone(name, status), 0);
  const spent = { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...status.disruptedPods, [pod]: formatTime(now) } };
  return { ...budget, status: allowed > 1 ? spent : { ...spent, conditions: exhausted(status, now) } };
}

function whyNone(name: string, { conditions, currentHealthy = 0, desiredHealthy = 0 }: BudgetStatus): string {
  const told = conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const refused = told?.status === 'False' && told.message ? told : undefined;
  if (refused?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${refused.message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  if (refused) return `The disruption budget ${name} does not allow evicting pods currently (${refused.reason}): ${refused.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

/** The controller has not caught up with the budget yet: the client is to ask again. */
export function stillProcessing({ metadata }: Budget): StatusError {
  return tooManyRequests(`The disruption budget ${metadata.name} is still being processed by the server.`, 10);
}

function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  const details = { causes: [{ reason: 'DisruptionBudget', message }], retryAfterSeconds };
  return new StatusError({ code: 429, reason: 'TooManyRequests', message: REFUSAL, details });
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
  return before ? conditions!.map((one) => (one === before ? condition : one)) : [...(conditions ?? []), condition];
}
