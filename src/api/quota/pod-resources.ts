import type { Quantity } from '#machinery';
import type { Container } from '../core/v1/container/container.ts';
import type { Pod } from '../core/v1/pod/pod.ts';
import type { PodSpec } from '../core/v1/pod/pod-spec.ts';
import { aggregateContainerResources, type ResourceList } from '../core/v1/resource-list/resource-list.ts';
import { isPodLevelResource } from '../core/v1/resource-list/resource-name.ts';
import { addAmounts, amountsOf, listOfAmounts, maxAmounts } from './amounts.ts';

type ContainerStatuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;

/** What a pod asks for in all: its containers or the pod as a whole, and its overhead. A resize under way counts at its larger end. */
export function podRequests(pod: Pod): Map<string, Quantity> {
  const spec = pod.spec ?? ({} as PodSpec);
  const requests = new Map(aggregateContainerResources(withEffective(pod, spec, 'requests'), 'requests'));
  for (const [name, quantity] of amountsOf(spec.resources?.requests)) if (isPodLevelResource(name)) requests.set(name, quantity);
  return addAmounts(requests, amountsOf(spec.overhead));
}

/** What a pod is limited to in all; overhead adds to limits that there are. */
export function podLimits(pod: Pod): Map<string, Quantity> {
  const spec = pod.spec ?? ({} as PodSpec);
  const limits = new Map(aggregateContainerResources(withEffective(pod, spec, 'limits'), 'limits'));
  for (const [name, quantity] of amountsOf(spec.resources?.limits)) if (isPodLevelResource(name)) limits.set(name, quantity);
  for (const [name, quantity] of amountsOf(spec.overhead)) {
    const limit = limits.get(name);
    if (limit && !limit.isZero) limits.set(name, limit.add(quantity));
  }
  return limits;
}

/** The spec with what its containers have or are about to have, when their status tells. */
function withEffective(pod: Pod, spec: PodSpec, kind: 'requests' | 'limits'): PodSpec {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const statuses = [...containerStatuses, ...initContainerStatuses].filter(({ resources }) => resources !== undefined);
  if (statuses.length === 0) return spec;
  const isInfeasible = pod.status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
  const effective = (container: Container) => {
    const status = statuses.find(({ name }) => name === container.name);
    return status
      ? { ...container, resources: { ...container.resources, [kind]: effectiveList(container, status, { kind, isInfeasible }) } }
      : container;
  };
  return {
    ...spec,
    containers: (spec.containers ?? []).map(effective),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container) => (container.restartPolicy === 'Always' ? effective(container) : container)),
    }),
  };
}

function effectiveList(
  { resources }: Container,
  status: ContainerStatuses[number],
  { kind, isInfeasible }: { kind: 'requests' | 'limits'; isInfeasible: boolean },
): ResourceList {
  const requested = isInfeasible ? [] : [amountsOf(resources?.[kind])];
  const allocated = kind === 'requests' ? [amountsOf(status.allocatedResources)] : [];
  return listOfAmounts(maxAmounts([...requested, amountsOf(status.resources?.[kind]), ...allocated]));
}
