import type { PodCgroups } from '../cgroups/cgroups-hook.ts';
import type { MachineInfo } from '../node/machine-info.ts';
import { type CgroupFacts, pageSizeText } from '../pods/config/container-resources.ts';

export interface CgroupFactsConfig {
  /** As `--cpu-cfs-quota-period`, in microseconds; 0 is `--cpu-cfs-quota=false`. Default 100,000. */
  readonly cpuQuotaPeriodUs?: number;
  /** As `memorySwap.swapBehavior`. Default `NoSwap`. */
  readonly swapBehavior?: 'NoSwap' | 'LimitedSwap';
  /** Default: with cgroup v1, which cannot do otherwise. */
  readonly singleProcessOomKill?: boolean;
}

export interface CgroupFactsDeps {
  /** Undefined: the kubelet does not manage pod cgroups. */
  readonly cgroups: PodCgroups | undefined;
  readonly machine: Pick<MachineInfo, 'hugePages' | 'swapBytes'>;
  hasExclusiveCpus(podUid: string, container: string): boolean;
}

export function cgroupFacts(config: CgroupFactsConfig, { cgroups, machine, hasExclusiveCpus }: CgroupFactsDeps): CgroupFacts {
  const { tree, podsPath } = cgroups?.view ?? {};
  const facts = { hugePageSizes: hugePageSizes(machine), cpuQuotaPeriodUs: config.cpuQuotaPeriodUs, hasExclusiveCpus };
  if (tree === undefined || podsPath === undefined) return facts;
  const { swapBehavior: behavior = 'NoSwap', singleProcessOomKill = tree.version === 1 } = config;
  const swap = { behavior, cgroupVersion: tree.version, swapCapacityBytes: machine.swapBytes };
  return { ...facts, ...(tree.countsSwap(podsPath()) && { swap }), killsOomGroup: tree.version === 2 && !singleProcessOomKill };
}

export function hugePageSizes({ hugePages }: Pick<MachineInfo, 'hugePages'>): readonly string[] {
  return hugePages.map(({ sizeBytes }) => pageSizeText(sizeBytes));
}
