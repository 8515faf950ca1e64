import { goQuote, Quantity, QuantityError } from '#machinery';
import type { DefaultedConfiguration } from './defaults.ts';

const ENFORCEMENTS = ['pods', 'system-reserved', 'system-reserved-compressible', 'kube-reserved', 'kube-reserved-compressible', 'none'];
const RESERVABLE: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

type AllocatableSettings = Pick<
  DefaultedConfiguration,
  | 'enforceNodeAllocatable'
  | 'systemReservedCgroup'
  | 'kubeReservedCgroup'
  | 'cgroupsPerQOS'
  | 'reservedSystemCPUs'
  | 'systemReserved'
  | 'kubeReserved'
  | 'reservedMemory'
>;

/** Validation errors of reservations and their enforcement, in upstream's words. */
export function allocatableProblems(config: AllocatableSettings): readonly string[] {
  const { enforceNodeAllocatable: enforced, reservedSystemCPUs = '', systemReserved = {}, kubeReserved = {} } = config;
  return [
    ...['system', 'kube'].flatMap((component) => exclusiveProblem(enforced, component)),
    ...enforced.flatMap((target, i) => enforcementProblems(target, config, enforced.indexOf(target) !== i)),
    ...(reservedSystemCPUs !== '' && (config.systemReservedCgroup || config.kubeReservedCgroup)
      ? [
          "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
        ]
      : []),
    ...reservedMemoryProblems(config),
    ...reservationProblems('--system-reserved', systemReserved),
    ...reservationProblems('--kube-reserved', kubeReserved),
  ];
}

function exclusiveProblem(enforced: readonly string[], component: string): readonly string[] {
  const [all, compressible] = [`${component}-reserved`, `${component}-reserved-compressible`];
  if (!enforced.includes(all) || !enforced.includes(compressible)) return [];
  const where = 'cannot be specified together in enforceNodeAllocatable (--enforce-node-allocatable)';
  return [`invalid configuration: both ${goQuote(all)} and ${goQuote(compressible)} ${where}`];
}

function enforcementProblems(target: string, config: AllocatableSettings, isRepeated: boolean): readonly string[] {
  const where = 'enforceNodeAllocatable (--enforce-node-allocatable)';
  if (isRepeated) return [`invalid configuration: duplicated enforcements ${goQuote(target)} in ${where}`];
  if (!ENFORCEMENTS.includes(target)) {
    const [last, ...others] = ENFORCEMENTS.map(goQuote).toReversed();
    const valid = `Valid options are ${others.toReversed().join(', ')} or ${last}`;
    return [`invalid configuration: option ${goQuote(target)} specified for ${where}. ${valid}`];
  }
  if (target === 'none') {
    if (config.enforceNodeAllocatable.length === 1) return [];
    return [`invalid configuration: ${where} may not contain additional enforcements when "none" is specified`];
  }
  const [component = ''] = target.split('-');
  const cgroup = component === 'system' ? config.systemReservedCgroup : config.kubeReservedCgroup;
  const needs = `${component}ReservedCgroup (--${component}-reserved-cgroup) must be specified when "${component}-reserved" or "${component}-reserved-compressible" included in ${where}`;
  return [
    ...(target !== 'pods' && !cgroup ? [`invalid configuration: ${needs}`] : []),
    ...(config.cgroupsPerQOS
      ? []
      : [`invalid configuration: cgroupsPerQOS (--cgroups-per-qos) must be set to true when ${goQuote(target)} contained in ${where}`]),
  ];
}

function reservedMemoryProblems({ reservedMemory = [] }: AllocatableSettings): readonly string[] {
  const seen = new Set<string>();
  return reservedMemory.flatMap(({ numaNode = 0, limits = {} }) =>
    Object.entries(limits).flatMap(([resource, amount]) => {
      const key = `${numaNode}/${resource}`;
      const isRepeated = seen.has(key);
      seen.add(key);
      const of = `for NUMA node ${numaNode} and resource ${goQuote(resource)}`;
      const isMemory = resource === 'memory' || resource.startsWith('hugepages-');
      return [
        ...(isMemory
          ? []
          : [
              `invalid configuration: the limit type ${goQuote(resource)} for NUMA node ${numaNode} is not supported, only [memory hugepages-<HugePageSize>] is accepted`,
            ]),
        ...(Quantity.parse(amount).compare(Quantity.zero) === 0 ? [`invalid configuration: reserved memory may not be zero ${of}`] : []),
        ...(isRepeated ? [`invalid configuration: the reserved memory has a duplicate value ${of}`] : []),
      ];
    }),
  );
}

function reservationProblems(option: string, reserved: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(reserved).flatMap(([resource, amount]) => {
    const problem = reservationProblem(resource, amount);
    return problem === undefined ? [] : [`${option} value failed to parse: ${problem}`];
  });
}

function reservationProblem(resource: string, amount: string): string | undefined {
  if (!RESERVABLE.includes(resource)) return `cannot reserve ${goQuote(resource)} resource`;
  try {
    if (Quantity.parse(amount).compare(Quantity.zero) >= 0) return undefined;
    return `resource quantity for ${goQuote(resource)} cannot be negative: ${amount}`;
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return `failed to parse quantity ${goQuote(amount)} for ${goQuote(resource)} resource: ${error.message}`;
  }
}
