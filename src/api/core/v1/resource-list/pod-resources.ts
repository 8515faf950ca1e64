import { Quantity } from '#machinery';
import type { Container } from '../container/container.ts';
import type { Pod } from '../pod/pod.ts';
import type { PodSpec } from '../pod/pod-spec.ts';
import type { ResourceList } from './resource-list.ts';
import { isPodLevelResource } from './resource-name.ts';

/** Arithmetic on amounts: exact quantities, or plain numbers for speed. */
export interface ResourceArithmetic<Amount> {
  read(resource: string, text: string): Amount;
  add(a: Amount, b: Amount): Amount;
  isGreater(a: Amount, b: Amount): boolean;
}

export const EXACT_QUANTITIES: ResourceArithmetic<Quantity> = {
  read: (_, text) => Quantity.parse(text),
  add: (a, b) => a.add(b),
  isGreater: (a, b) => a.compare(b) > 0,
};

export interface PodResourcesOptions<Amount> {
  readonly kind: 'requests' | 'limits';
  readonly arithmetic: ResourceArithmetic<Amount>;
  /** Added for each container that does not set the resource, unless the pod sets it. */
  readonly defaults?: ReadonlyMap<string, Amount> | undefined;
  /** Whether to consider a resize of pod-level resources. Default false. */
  readonly withPodLevelResize?: boolean;
}

type Amounts<Amount> = Map<string, Amount>;

/** Resources in the status: actual and allocated. */
interface ResizeStatus {
  readonly resources?: { readonly requests?: unknown; readonly limits?: unknown } | null | undefined;
  readonly allocatedResources?: unknown;
}

/**
 * The resources of a whole pod without overhead: those of its containers, replaced by those that the pod itself sets. During an in-place
 * resize the maximum of the desired, allocated and actual resources counts; the desired ones do not if the resize is infeasible.
 */
export function podResources<Amount>(pod: Pod, options: PodResourcesOptions<Amount>): Amounts<Amount> {
  const { spec, status } = pod;
  const podLevel = spec?.resources?.[options.kind] as ResourceList | undefined;
  const totals = new PodTotals(options, { podLevel, statuses: resizeStatuses(pod), isInfeasible: isResizeInfeasible(pod) });
  const total = totals.ofContainers(spec);
  if (podLevel === undefined) return total;
  const ofPod = options.withPodLevelResize ? totals.effective(podLevel, status) : totals.read(podLevel);
  for (const [name, amount] of ofPod) if (podLevel[name] !== undefined && isPodLevelResource(name)) total.set(name, amount);
  return total;
}

/** The resources of a pod's containers by its spec alone. */
export function aggregateContainerResources(spec: PodSpec, kind: 'requests' | 'limits'): ReadonlyMap<string, Quantity> {
  return new PodTotals({ kind, arithmetic: EXACT_QUANTITIES }, {}).ofContainers(spec);
}

interface PodFacts {
  readonly podLevel?: ResourceList | undefined;
  readonly statuses?: ReadonlyMap<string, ResizeStatus> | undefined;
  readonly isInfeasible?: boolean;
}

class PodTotals<Amount> {
  constructor(
    private readonly options: PodResourcesOptions<Amount>,
    private readonly pod: PodFacts,
  ) {}

  /**
   * The sum of the containers that run at the same time, or the maximum of the steps of initialization, whichever is greater. Sidecars
   * (restartPolicy Always) count from their start on.
   */
  ofContainers(spec: PodSpec | undefined): Amounts<Amount> {
    const running: Amounts<Amount> = new Map();
    for (const container of spec?.containers ?? []) this.#add(running, this.#container(container, true));
    const initial: Amounts<Amount> = new Map();
    const sidecars: Amounts<Amount> = new Map();
    for (const container of spec?.initContainers ?? []) {
      const isSidecar = container.restartPolicy === 'Always';
      const own = this.#container(container, isSidecar);
      if (isSidecar) {
        this.#add(running, own);
        this.#add(sidecars, own);
        this.#raise(initial, sidecars);
      } else {
        this.#add(own, sidecars);
        this.#raise(initial, own);
      }
    }
    this.#raise(running, initial);
    return running;
  }

  effective(desired: ResourceList | undefined, status: ResizeStatus | undefined): Amounts<Amount> {
    const { kind } = this.options;
    if (status?.resources == null) return this.read(desired);
    const amounts = this.read(this.pod.isInfeasible ? undefined : desired);
    this.#raise(amounts, this.read(status.resources[kind] as ResourceList | undefined));
    if (kind === 'requests') this.#raise(amounts, this.read(status.allocatedResources as ResourceList | undefined));
    return amounts;
  }

  read(list: ResourceList | undefined): Amounts<Amount> {
    return readResources(list, this.options.arithmetic);
  }

  /** Init containers other than sidecars are not resized. */
  #container({ name, resources }: Container, isResizable: boolean): Amounts<Amount> {
    const status = isResizable ? this.pod.statuses?.get(name) : undefined;
    const amounts = this.effective(resources?.[this.options.kind] as ResourceList | undefined, status);
    for (const [resource, amount] of this.options.defaults ?? [])
      if (!amounts.has(resource) && this.pod.podLevel?.[resource] === undefined) amounts.set(resource, amount);
    return amounts;
  }

  #add(total: Amounts<Amount>, added: ReadonlyMap<string, Amount>): void {
    addResources(total, added, this.options.arithmetic);
  }

  #raise(total: Amounts<Amount>, least: ReadonlyMap<string, Amount>): void {
    const { arithmetic } = this.options;
    for (const [name, amount] of least) {
      const current = total.get(name);
      if (current === undefined || arithmetic.isGreater(amount, current)) total.set(name, amount);
    }
  }
}

export function readResources<Amount>(list: ResourceList | undefined, arithmetic: ResourceArithmetic<Amount>): Amounts<Amount> {
  const amounts: Amounts<Amount> = new Map();
  for (const name in list) amounts.set(name, arithmetic.read(name, list[name] as string));
  return amounts;
}

/** Adds to `total`. */
export function addResources<Amount>(
  total: Amounts<Amount>,
  added: ReadonlyMap<string, Amount>,
  arithmetic: ResourceArithmetic<Amount>,
): void {
  for (const [name, amount] of added) {
    const current = total.get(name);
    total.set(name, current === undefined ? amount : arithmetic.add(current, amount));
  }
}

function isResizeInfeasible({ status }: Pod): boolean {
  return status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

/** Only pods that may be resized in place have resources in their status. */
function resizeStatuses({ status }: Pod): ReadonlyMap<string, ResizeStatus> | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const withResources = all.filter(({ resources }) => resources != null);
  return withResources.length === 0 ? undefined : new Map(withResources.map((container) => [container.name, container]));
}
