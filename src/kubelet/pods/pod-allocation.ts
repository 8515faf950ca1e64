import type { core } from '#api';
import { Quantity } from '#machinery';

type Resources = core.ResourceRequirements;

/** What the containers of a pod, and the pod as a whole, were given. */
export interface PodAllocation {
  readonly pod: Resources | undefined;
  readonly containers: ReadonlyMap<string, Resources | undefined>;
}

export function allocationOf({ spec }: core.Pod): PodAllocation {
  return { pod: spec?.resources, containers: new Map(containersOf(spec).map(({ name, resources }) => [name, resources])) };
}

/** What the kubelet allocated before its restart, where the spec differs by now. */
export function allocatedByStatus(pod: core.Pod): PodAllocation {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const reported = new Map([...containerStatuses, ...initContainerStatuses].map((status) => [status.name, status.resources]));
  const { pod: ofPod, containers } = allocationOf(pod);
  const withReportedResources = ([name, resources]: [string, Resources | undefined]) => [name, reported.get(name) ?? resources] as const;
  return { pod: ofPod && (pod.status?.resources ?? ofPod), containers: new Map([...containers].map(withReportedResources)) };
}

/** The pod without its status: resources in it, from before a resize, would count too. */
export function withoutStatus({ metadata, spec }: core.Pod): core.Pod {
  return { metadata, ...(spec && { spec }) };
}

/** The pod with these resources; the same object if they are its own. */
export function withAllocation(pod: core.Pod, allocation: PodAllocation): core.Pod {
  const { spec } = pod;
  if (spec === undefined || isAllocated(pod, allocation)) return pod;
  const { initContainers, containers = [] } = spec;
  return {
    ...pod,
    spec: {
      ...withResources(spec, allocation.pod),
      containers: containers.map((container) => allocated(container, allocation)),
      ...(initContainers && { initContainers: initContainers.map((container) => allocated(container, allocation)) }),
    },
  };
}

export function isAllocated({ spec }: core.Pod, { pod, containers }: PodAllocation): boolean {
  const isSameContainer = ({ name, resources }: core.Container) => !containers.has(name) || isSame(resources, containers.get(name));
  return isSame(spec?.resources, pod) && containersOf(spec).every(isSameContainer);
}

function allocated(container: core.Container, { containers }: PodAllocation): core.Container {
  return containers.has(container.name) ? withResources(container, containers.get(container.name)) : container;
}

function withResources<T extends { readonly resources?: Resources }>(holder: T, resources: Resources | undefined): T {
  const { resources: _, ...rest } = holder;
  return { ...rest, ...(resources && { resources }) } as T;
}

function containersOf(spec: core.PodSpec | undefined): readonly core.Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
}

function isSame(a: Resources | undefined, b: Resources | undefined): boolean {
  return a === b || (isSameList(a?.limits, b?.limits) && isSameList(a?.requests, b?.requests));
}

function isSameList(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isSameAmount(a[name], b[name]));
}

function isSameAmount(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || Quantity.parse(a).compare(Quantity.parse(b)) === 0;
}
