import type { core } from '#api';
import { isCritical } from '../pods/config/critical-pods.ts';
import { podRequest } from '../pods/pod-requests.ts';

/** What a node lacks for a pod: thousandths of a CPU, else the plain number. */
export interface Shortage {
  readonly resource: string;
  readonly amount: number;
}

/**
 * The pods to evict so that a critical pod fits, or undefined if all of them would not suffice. As upstream: pods of a higher class only if
 * those of lower classes do not suffice, and within a class those closest to the missing amount. Pure.
 */
export function podsToPreempt(
  preemptor: core.Pod,
  pods: readonly core.Pod[],
  shortages: readonly Shortage[],
): readonly core.Pod[] | undefined {
  const candidates = pods.filter((pod) => isPreemptable(preemptor, pod));
  if (remaining(shortages, candidates).length > 0) return undefined;
  const ofClass = (name: string) => candidates.filter((pod) => pod.status?.qosClass === name);
  const [bestEffort, burstable] = [ofClass('BestEffort'), ofClass('Burstable')];
  const guaranteedVictims = nearestPods(ofClass('Guaranteed'), remaining(shortages, [...bestEffort, ...burstable]));
  const burstableVictims = nearestPods(burstable, remaining(shortages, [...bestEffort, ...guaranteedVictims]));
  const bestEffortVictims = nearestPods(bestEffort, remaining(shortages, [...burstableVictims, ...guaranteedVictims]));
  return [...bestEffortVictims, ...burstableVictims, ...guaranteedVictims];
}

function isPreemptable(preemptor: core.Pod, pod: core.Pod): boolean {
  if (isCritical(preemptor) && !isCritical(pod)) return true;
  const [own, other] = [preemptor.spec?.priority, pod.spec?.priority];
  return own !== undefined && other !== undefined && own > other;
}

function remaining(shortages: readonly Shortage[], ended: readonly core.Pod[]): readonly Shortage[] {
  return shortages
    .map(({ resource, amount }) => ({ resource, amount: ended.reduce((left, pod) => left - podRequest(pod, resource), amount) }))
    .filter(({ amount }) => amount > 0);
}

function nearestPods(pods: readonly core.Pod[], shortages: readonly Shortage[]): readonly core.Pod[] {
  const victims: core.Pod[] = [];
  let [left, missing] = [pods, shortages];
  while (missing.length > 0 && left.length > 0) {
    const current = missing;
    const nearest = left.reduce((best, pod) => (isNearer(pod, best, current) ? pod : best));
    victims.push(nearest);
    left = left.filter((pod) => pod !== nearest);
    missing = remaining(missing, [nearest]);
  }
  return victims;
}

/** Among pods that cover as much, the one that requests least. */
function isNearer(pod: core.Pod, best: core.Pod, shortages: readonly Shortage[]): boolean {
  const difference = distance(pod, shortages) - distance(best, shortages);
  if (difference !== 0) return difference < 0;
  for (const resource of ['memory', 'cpu']) {
    const excess = podRequest(pod, resource) - podRequest(best, resource);
    if (excess !== 0) return excess < 0;
  }
  return true;
}

function distance(pod: core.Pod, shortages: readonly Shortage[]): number {
  return shortages.reduce((sum, { resource, amount }) => sum + (Math.max(0, amount - podRequest(pod, resource)) / amount) ** 2, 0);
}
