import type { core } from '#api';
import { Quantity } from '#machinery';

/** Amounts of resources as plain numbers: milli-CPUs, bytes, units. */
export interface ResourceAmounts {
  readonly milliCpu: number;
  readonly memory: number;
  readonly ephemeralStorage: number;
  /** Huge pages, extended resources and attachable volumes; undefined when there are none. */
  readonly scalars: ReadonlyMap<string, number> | undefined;
}

type ResourceList = Readonly<Record<string, string>>;
type Amounts = Map<string, number>;

export const DEFAULT_MILLI_CPU_REQUEST = 100;
export const DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024;
const MAX_KNOWN = 20_000;

/** Reads quantities, each text once: a cluster's pods use few different ones. */
export class QuantityReader {
  readonly #units = new Map<string, number>();
  readonly #milli = new Map<string, number>();

  units(text: string): number {
    return memoized(this.#units, text, readUnits);
  }

  milli(text: string): number {
    return memoized(this.#milli, text, readMilli);
  }

  amount(resource: string, text: string): number {
    return resource === 'cpu' ? this.milli(text) : this.units(text);
  }
}

function memoized(values: Map<string, number>, text: string, read: (text: string) => number): number {
  let value = values.get(text);
  if (value === undefined) {
    value = read(text);
    if (values.size >= MAX_KNOWN) values.clear();
    values.set(text, value);
  }
  return value;
}

const readUnits = (text: string): number => Quantity.fromJson(text).value();
const readMilli = (text: string): number => Quantity.fromJson(text).milliValue();

export function amountsOf(amounts: ReadonlyMap<string, number>): ResourceAmounts {
  let scalars: Map<string, number> | undefined;
  for (const [name, amount] of amounts) {
    if (isPlain(name)) continue;
    scalars ??= new Map();
    scalars.set(name, amount);
  }
  return {
    milliCpu: amounts.get('cpu') ?? 0,
    memory: amounts.get('memory') ?? 0,
    ephemeralStorage: amounts.get('ephemeral-storage') ?? 0,
    scalars,
  };
}

function isPlain(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || name === 'pods';
}

export function listAmounts(list: ResourceList | undefined, quantities: QuantityReader): Amounts {
  const amounts: Amounts = new Map();
  for (const name in list) amounts.set(name, quantities.amount(name, list[name] as string));
  return amounts;
}

export interface PodRequests {
  readonly requests: ResourceAmounts;
  /** With what a container that asks for nothing is taken to need: for scores only. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
}

/** What a pod needs at most at one time: its containers together, or an init container, and what the runtime itself takes. */
export function podRequests(pod: core.Pod, quantities: QuantityReader): PodRequests {
  const exact = totalRequests(pod, quantities, false);
  const nonZero = totalRequests(pod, quantities, true);
  return { requests: amountsOf(exact), nonZeroMilliCpu: nonZero.get('cpu') ?? 0, nonZeroMemory: nonZero.get('memory') ?? 0 };
}

function totalRequests(pod: core.Pod, quantities: QuantityReader, withDefaults: boolean): Amounts {
  const { spec } = pod;
  const podLevel = spec?.resources?.requests as ResourceList | undefined;
  const read = { quantities, withDefaults, podLevel, statuses: containerStatuses(pod), isInfeasible: isResizeInfeasible(pod) };
  const total = containersTotal(spec?.containers ?? [], read);
  const initTotal = initContainersMaximum(spec?.initContainers ?? [], total, read);
  raise(total, initTotal);
  const ofPod = podLevel === undefined ? undefined : effective(podLevel, pod.status, read);
  for (const [name, amount] of ofPod ?? []) if (isPodLevel(name) && podLevel?.[name] !== undefined) total.set(name, amount);
  if (spec?.overhead) add(total, listAmounts(spec.overhead as ResourceList, quantities));
  return total;
}

interface RequestContext {
  readonly quantities: QuantityReader;
  readonly withDefaults: boolean;
  readonly podLevel: ResourceList | undefined;
  readonly statuses: ReadonlyMap<string, core.ContainerStatus> | undefined;
  /** An infeasible resize: the requested resources do not count. */
  readonly isInfeasible: boolean;
}

/** What of a status tells of sizes: the sizes in use, and those that the node has granted. */
interface ResizeStatus {
  readonly resources?: { readonly requests?: unknown } | undefined;
  readonly allocatedResources?: unknown;
}

function isResizeInfeasible({ status }: core.Pod): boolean {
  return (status?.conditions ?? []).find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

/** During an in-place resize the maximum of spec, allocated and actual resources counts. */
function effective(
  requests: ResourceList | undefined,
  status: ResizeStatus | undefined,
  { quantities, isInfeasible }: RequestContext,
): Amounts {
  if (status?.resources == null) return listAmounts(requests, quantities);
  const amounts = listAmounts(isInfeasible ? undefined : requests, quantities);
  raise(amounts, listAmounts(status.resources.requests as ResourceList | undefined, quantities));
  raise(amounts, listAmounts(status.allocatedResources as ResourceList | undefined, quantities));
  return amounts;
}

function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** Only pods that may be resized in place carry resources in their status. */
function containerStatuses({ status }: core.Pod): ReadonlyMap<string, core.ContainerStatus> | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const sized = all.filter(({ resources }) => resources != null);
  return sized.length === 0 ? undefined : new Map(sized.map((container) => [container.name, container]));
}

function containersTotal(containers: readonly core.Container[], read: RequestContext): Amounts {
  const total: Amounts = new Map();
  for (const container of containers) add(total, containerRequests(container, read));
  return total;
}

/** Sidecars run on beside all that comes after them: they also count among the containers, which `total` is made to show. */
function initContainersMaximum(containers: readonly core.Container[], total: Amounts, read: RequestContext): Amounts {
  const most: Amounts = new Map();
  const sidecars: Amounts = new Map();
  for (const container of containers) {
    const isSidecar = container.restartPolicy === 'Always';
    // Those that end are not resized any more when their size could matter.
    const own = containerRequests(container, isSidecar ? read : { ...read, statuses: undefined });
    if (isSidecar) {
      add(total, own);
      add(sidecars, own);
      raise(most, sidecars);
    } else {
      add(own, sidecars);
      raise(most, own);
    }
  }
  return most;
}

function containerRequests(container: core.Container, read: RequestContext): Amounts {
  const amounts = effective(container.resources?.requests as ResourceList | undefined, read.statuses?.get(container.name), read);
  if (read.withDefaults) {
    if (!amounts.has('cpu') && read.podLevel?.cpu === undefined) amounts.set('cpu', DEFAULT_MILLI_CPU_REQUEST);
    if (!amounts.has('memory') && read.podLevel?.memory === undefined) amounts.set('memory', DEFAULT_MEMORY_REQUEST);
  }
  return amounts;
}

function add(total: Amounts, more: ReadonlyMap<string, number>): void {
  for (const [name, amount] of more) total.set(name, (total.get(name) ?? 0) + amount);
}

function raise(total: Amounts, least: ReadonlyMap<string, number>): void {
  for (const [name, amount] of least) if (amount > (total.get(name) ?? -1)) total.set(name, amount);
}
