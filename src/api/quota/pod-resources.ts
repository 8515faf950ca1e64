import type { Quantity } from '#machinery';
import type { Pod } from '../core/v1/pod/pod.ts';
import { EXACT_QUANTITIES, podResources } from '../core/v1/resource-list/pod-resources.ts';
import { accumulate, amountsOf } from './amounts.ts';

/** The requests of a whole pod, with its overhead. */
export function podRequests(pod: Pod): Map<string, Quantity> {
  const requests = podResources(pod, { kind: 'requests', arithmetic: EXACT_QUANTITIES });
  accumulate(requests, amountsOf(pod.spec?.overhead));
  return requests;
}

/** The limits of a whole pod. Overhead is added to existing limits. */
export function podLimits(pod: Pod): Map<string, Quantity> {
  const limits = podResources(pod, { kind: 'limits', arithmetic: EXACT_QUANTITIES });
  for (const [name, quantity] of amountsOf(pod.spec?.overhead)) {
    const limit = limits.get(name);
    if (limit && !limit.isZero) limits.set(name, limit.add(quantity));
  }
  return limits;
}
