import { core } from '#api';
import { Quantity } from '#machinery';

/** Amounts of resources as plain numbers: milli-CPUs, bytes, units. */
export interface ResourceAmounts {
  readonly milliCpu: number;
  readonly memory: number;
  readonly ephemeralStorage: number;
  /** Huge pages, extended resources and attachable volumes; undefined when there are none. */
  readonly scalars: ReadonlyMap<string, number> | undefined;
}

export const DEFAULT_MILLI_CPU_REQUEST = 100;
export const DEFAULT_MEMORY_REQUEST = 200 * 1024 * 1024;
const MAX_MEMOIZED = 20_000;

/** The requests of a container that sets none, for scores. */
const NON_ZERO_REQUESTS: ReadonlyMap<string, number> = new Map([
  ['cpu', DEFAULT_MILLI_CPU_REQUEST],
  ['memory', DEFAULT_MEMORY_REQUEST],
]);

/** Parses quantities to numbers, memoized: a cluster's pods use few different ones. */
export class QuantityReader implements core.ResourceArithmetic<number> {
  readonly #units = new Map<string, number>();
  readonly #milli = new Map<string, number>();

  units(text: string): number {
    return memoized(this.#units, text, readUnits);
  }

  milli(text: string): number {
    return memoized(this.#milli, text, readMilli);
  }

  read(resource: string, text: string): number {
    return resource === 'cpu' ? this.milli(text) : this.units(text);
  }

  add(a: number, b: number): number {
    return a + b;
  }

  isGreater(a: number, b: number): boolean {
    return a > b;
  }
}

function memoized(values: Map<string, number>, text: string, read: (text: string) => number): number {
  let value = values.get(text);
  if (value === undefined) {
    value = read(text);
    if (values.size >= MAX_MEMOIZED) values.clear();
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

export function listAmounts(list: core.ResourceList | undefined, quantities: QuantityReader): Map<string, number> {
  return core.readResources(list, quantities);
}

export interface PodRequests {
  readonly requests: ResourceAmounts;
  /** With defaults for containers that request nothing: for scores only. */
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
}

/** The requests of a whole pod, with its overhead. */
export function podRequests(pod: core.Pod, quantities: QuantityReader): PodRequests {
  const exact = totalRequests(pod, quantities);
  const nonZero = totalRequests(pod, quantities, NON_ZERO_REQUESTS);
  return { requests: amountsOf(exact), nonZeroMilliCpu: nonZero.get('cpu') ?? 0, nonZeroMemory: nonZero.get('memory') ?? 0 };
}

function totalRequests(pod: core.Pod, arithmetic: QuantityReader, defaults?: ReadonlyMap<string, number>): Map<string, number> {
  const total = core.podResources(pod, { kind: 'requests', arithmetic, defaults, withPodLevelResize: true });
  if (pod.spec?.overhead) core.addResources(total, listAmounts(pod.spec.overhead, arithmetic), arithmetic);
  return total;
}
