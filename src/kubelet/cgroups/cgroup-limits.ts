import { type core, quota } from '#api';
import { Quantity } from '#machinery';
import { milliCpuToQuota, milliCpuToShares, pageSizeText } from '../pods/config/container-resources.ts';
import { withoutStatus } from '../pods/pod-allocation.ts';
import { isSidecar } from '../pods/pod-state.ts';

const HUGE_PAGES = 'hugepages-';

export interface CgroupLimits {
  readonly cpuShares?: number;
  /** -1: unlimited. */
  readonly cpuQuotaUs?: number;
  /** -1: unlimited. */
  readonly memoryBytes?: number;
  readonly pids?: number;
  /** Bytes by page size, as in cgroup file names. */
  readonly hugePages?: ReadonlyMap<string, number>;
}

export interface PodLimitOptions {
  readonly pidsLimit?: number | undefined;
  /** Default true. */
  readonly enforcesCpuLimits?: boolean | undefined;
  /** The machine's huge page sizes: pods get none unless they request them. */
  readonly hugePageSizes?: readonly string[] | undefined;
}

/** The limits of a pod's cgroup, by upstream's rules: a resource is limited only if every container limits it. */
export function podLimits(pod: core.Pod, { pidsLimit, enforcesCpuLimits = true, hugePageSizes = [] }: PodLimitOptions): CgroupLimits {
  const requests = quota.podRequests(withoutStatus(pod));
  const limits = quota.podLimits(withoutStatus(pod));
  const qos = pod.status?.qosClass;
  const always = {
    ...(pidsLimit !== undefined && { pids: pidsLimit }),
    ...(hugePageSizes.length > 0 && { hugePages: hugePageLimits(requests, hugePageSizes) }),
  };
  if (qos !== 'Guaranteed' && qos !== 'Burstable') return { cpuShares: milliCpuToShares(0), ...always };
  const cpuLimit = limits.get('cpu')?.milliValue() ?? 0;
  const memoryLimit = limits.get('memory')?.value() ?? 0;
  return {
    cpuShares: milliCpuToShares(requests.get('cpu')?.milliValue() ?? 0),
    ...(enforcesCpuLimits && cpuLimit > 0 && isLimitedEverywhere(pod, 'cpu') && { cpuQuotaUs: milliCpuToQuota(cpuLimit) }),
    ...(memoryLimit > 0 && isLimitedEverywhere(pod, 'memory') && { memoryBytes: memoryLimit }),
    ...always,
  };
}

function hugePageLimits(requests: ReadonlyMap<string, Quantity>, sizes: readonly string[]): ReadonlyMap<string, number> {
  const limits = new Map(sizes.map((size) => [size, 0]));
  for (const [name, amount] of requests) {
    if (!name.startsWith(HUGE_PAGES)) continue;
    const size = pageSizeText(Quantity.parse(name.slice(HUGE_PAGES.length)).value());
    if (limits.has(size)) limits.set(size, amount.value());
  }
  return limits;
}

function isLimitedEverywhere({ spec }: core.Pod, resource: string): boolean {
  if (spec?.resources?.limits?.[resource] !== undefined) return true;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
  return containers.every(({ resources }) => resources?.limits?.[resource] !== undefined);
}
