import { Quantity } from '#machinery';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';

/** The part of a node's capacity that is not allocatable. */
export interface Reservations {
  readonly system: Readonly<Record<string, string>>;
  readonly kube: Readonly<Record<string, string>>;
  /** Hard eviction thresholds, such as `memory.available`: reserved, since pods are evicted when they are crossed. */
  readonly evictionHard: Readonly<Record<string, string>>;
  /** As `--reserved-cpus`: the number of reserved CPUs, which overrides other CPU reservations. */
  readonly cpus?: number;
  /** Whether the kubepods cgroup is limited to the allocatable amount. */
  readonly isEnforced: boolean;
}

/** The limits of all pods together. */
export interface PodsLimit {
  readonly milliCpu: number;
  readonly memoryBytes: number;
}

type Amounts = Readonly<Record<string, string>>;

export interface ReservationConfig {
  readonly configuration?: KubeletConfiguration;
  readonly evictionHard?: Readonly<Record<string, string>>;
}

export function reservationsOf({ configuration = {}, evictionHard = {} }: ReservationConfig): Reservations {
  const { systemReserved = {}, kubeReserved = {}, reservedSystemCPUs = '', enforceNodeAllocatable = ['pods'] } = configuration;
  const isEnforced = enforceNodeAllocatable.includes('pods');
  const reserved = { system: systemReserved, kube: kubeReserved, evictionHard, isEnforced };
  return reservedSystemCPUs === '' ? reserved : { ...reserved, cpus: cpuCount(reservedSystemCPUs) };
}

/** The allocatable resources. Throws a TypeError when reservations exceed the capacity. Pure. */
export function nodeAllocatable(capacity: Amounts, reservations: Reservations): Amounts {
  const left: Record<string, string> = {};
  const problems: string[] = [];
  for (const [resource, total] of Object.entries(capacity)) {
    const reserved = reservedOf(resource, Quantity.parse(total), reservations).add(
      resource === 'memory' ? hugePages(capacity) : Quantity.zero,
    );
    const rest = Quantity.parse(total).sub(reserved);
    left[resource] = rest.compare(Quantity.zero) < 0 ? '0' : rest.toString();
    if (rest.compare(Quantity.zero) < 0)
      problems.push(`Resource "${resource}" has a reservation of ${reserved} but capacity of ${total}. Expected capacity >= reservation.`);
  }
  if (problems.length > 0) throw new TypeError(`invalid Node Allocatable configuration. ${problems.join(' ')}`);
  return left;
}

/** The limits of the kubepods cgroup: without eviction thresholds, since eviction must come first. */
export function podsLimit(capacity: Amounts, reservations: Reservations): PodsLimit {
  const { cpu = '0', memory = '0' } = reservations.isEnforced ? nodeAllocatable(capacity, { ...reservations, evictionHard: {} }) : capacity;
  return { milliCpu: Quantity.parse(cpu).milliValue(), memoryBytes: Quantity.parse(memory).value() };
}

/** Huge pages are carved out of memory. */
function hugePages(capacity: Amounts): Quantity {
  const pages = Object.entries(capacity).filter(([resource]) => resource.startsWith('hugepages-'));
  return pages.reduce((sum, [, amount]) => sum.add(Quantity.parse(amount)), Quantity.zero);
}

const SIGNALS: ReadonlyMap<string, string> = new Map([
  ['memory', 'memory.available'],
  ['ephemeral-storage', 'nodefs.available'],
]);

function reservedOf(resource: string, total: Quantity, { system, kube, evictionHard, cpus }: Reservations): Quantity {
  if (resource === 'cpu' && cpus !== undefined) return Quantity.of(cpus);
  const threshold = evictionHard[SIGNALS.get(resource) ?? ''];
  const parts = [system[resource], kube[resource]].filter((part) => part !== undefined).map((part) => Quantity.parse(part));
  if (threshold !== undefined) parts.push(thresholdOf(threshold, total));
  return parts.reduce((sum, part) => sum.add(part), Quantity.zero);
}

/** A percentage of the capacity, or a quantity. */
function thresholdOf(text: string, total: Quantity): Quantity {
  if (!text.endsWith('%')) return Quantity.parse(text);
  return Quantity.of(Math.floor((total.value() * Number(text.slice(0, -1))) / 100), 'BinarySI');
}

/** The number of CPUs in a list such as `0-3,8`. */
function cpuCount(list: string): number {
  let count = 0;
  for (const part of list.split(',')) {
    const [, from = '', to = from] = /^(\d+)(?:-(\d+))?$/.exec(part.trim()) ?? [];
    if (from === '' || Number(to) < Number(from))
      throw new TypeError(`unable to parse reservedSystemCPUs (--reserved-cpus) ${list}: "${part}" is no processor and no range`);
    count += Number(to) - Number(from) + 1;
  }
  return count;
}
