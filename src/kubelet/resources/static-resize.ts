import type { core } from '#api';
import { Quantity } from '#machinery';
import { INFEASIBLE } from '../pods/pod-resize.ts';
import type { PodRejection } from '../status/pod-status.ts';

export interface StaticPolicies {
  readonly cpu: boolean;
  readonly memory: boolean;
}

/** Exclusive CPUs and memory of Guaranteed pods stay as they were allocated, as upstream. */
export function staticResizeProblem(desired: core.Pod, allocated: core.Pod, policies: StaticPolicies): PodRejection | undefined {
  if (desired.status?.qosClass !== 'Guaranteed') return undefined;
  const infeasible = (policy: string) => ({
    reason: INFEASIBLE,
    message: `Resize is infeasible for Guaranteed Pods alongside ${policy}`,
  });
  if (policies.cpu && isChanged(desired, allocated, 'cpu')) return infeasible('CPU Manager policy "static"');
  if (policies.memory && isChanged(desired, allocated, 'memory')) return infeasible('Memory Manager policy "Static"');
  return undefined;
}

function isChanged(desired: core.Pod, allocated: core.Pod, resource: string): boolean {
  const before = requestsOf(allocated, resource);
  return [...requestsOf(desired, resource)].some(([name, amount]) => amount.compare(before.get(name) ?? Quantity.zero) !== 0);
}

function requestsOf({ spec }: core.Pod, resource: string): ReadonlyMap<string, Quantity> {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return new Map(containers.map(({ name, resources }) => [name, Quantity.parse(resources?.requests?.[resource] ?? '0')]));
}
