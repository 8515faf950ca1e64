import { type core, quota } from '#api';
import { milliCpuToQuota, milliCpuToShares } from '../pods/config/container-resources.ts';
import { isSidecar } from '../pods/pod-state.ts';

export interface CgroupLimits {
  readonly cpuShares?: number;
  /** -1: unlimited. */
  readonly cpuQuotaUs?: number;
  /** -1: unlimited. */
  readonly memoryBytes?: number;
  readonly pids?: number;
}

export interface PodLimitOptions {
  readonly pidsLimit?: number | undefined;
  /** Default true. */
  readonly enforcesCpuLimits?: boolean | undefined;
}

/** The limits of a pod's cgroup, by upstream's rules: a resource is limited only if every container limits it. */
export function podLimits(pod: core.Pod, { pidsLimit, enforcesCpuLimits = true }: PodLimitOptions): CgroupLimits {
  const requests = quota.podRequests(pod);
  const limits = quota.podLimits(pod);
  const qos = pod.status?.qosClass;
  const pids = pidsLimit !== undefined && { pids: pidsLimit };
  if (qos !== 'Guaranteed' && qos !== 'Burstable') return { cpuShares: milliCpuToShares(0), ...pids };
  const cpuLimit = limits.get('cpu')?.milliValue() ?? 0;
  const memoryLimit = limits.get('memory')?.value() ?? 0;
  return {
    cpuShares: milliCpuToShares(requests.get('cpu')?.milliValue() ?? 0),
    ...(enforcesCpuLimits && cpuLimit > 0 && isLimitedEverywhere(pod, 'cpu') && { cpuQuotaUs: milliCpuToQuota(cpuLimit) }),
    ...(memoryLimit > 0 && isLimitedEverywhere(pod, 'memory') && { memoryBytes: memoryLimit }),
    ...pids,
  };
}

function isLimitedEverywhere({ spec }: core.Pod, resource: string): boolean {
  if (spec?.resources?.limits?.[resource] !== undefined) return true;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
  return containers.every(({ resources }) => resources?.limits?.[resource] !== undefined);
}
