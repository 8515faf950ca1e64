import { type core, quota } from '#api';
import { Quantity } from '#machinery';
import type { ContainerResources, SandboxResources } from '../../cri/runtime.ts';
import { withoutStatus } from '../pod-allocation.ts';
import { oomScoreAdjustment } from './oom-score.ts';
import { type SwapFacts, swapLimits } from './swap-limits.ts';

const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const SHARES_PER_CPU = 1024;
const PERIOD_US = 100_000;
const MIN_QUOTA_US = 1000;

/** What the machine's cgroups can do, and how the kubelet is configured to use it. */
export interface CgroupFacts {
  /** The machine's huge page sizes as in cgroup file names: `2MB`, `1GB`. */
  readonly hugePageSizes: readonly string[];
  /** The period of CPU limits; 0: they are not enforced. Default 100 ms. */
  readonly cpuQuotaPeriodUs?: number | undefined;
  /** Undefined: the kernel does not count swap. */
  readonly swap?: Omit<SwapFacts, 'memoryCapacityBytes'> | undefined;
  /** The kernel kills all processes of a container that is out of memory; needs cgroup v2. */
  readonly killsOomGroup?: boolean | undefined;
  /** Exclusive CPUs need no quota. */
  hasExclusiveCpus?(podUid: string, container: string): boolean;
}

export interface ResourceFacts extends CgroupFacts {
  readonly memoryCapacityBytes: number;
}

/** The CRI resources for a container's requests and limits. */
export function containerResources(pod: core.Pod, container: core.Container, facts: ResourceFacts): ContainerResources {
  const { requests, limits } = container.resources ?? {};
  const cpuLimit = amount(limits?.cpu ?? podLimit(pod, 'cpu'));
  const memoryLimit = amount(limits?.memory ?? podLimit(pod, 'memory'));
  const cpuRequest = requests?.cpu === undefined ? cpuLimit : amount(requests.cpu);
  const { memoryCapacityBytes, swap } = facts;
  const hasOwnCpus = facts.hasExclusiveCpus?.(pod.metadata.uid ?? '', container.name) === true;
  const { unified, ...swapLimit } = swap === undefined ? {} : swapLimits(pod, container, { ...swap, memoryCapacityBytes });
  const files = { ...unified, ...oomGroup(facts) };
  return {
    ...cpuAndMemory({ cpuRequest, cpuLimit, memoryLimit, hasOwnCpus }, facts),
    ...swapLimit,
    oomScoreAdj: oomScoreAdjustment(pod, container, memoryCapacityBytes),
    ...(facts.hugePageSizes.length > 0 && { hugepageLimits: hugepageLimits(pod, container, facts.hugePageSizes) }),
    ...(Object.keys(files).length > 0 && { unified: files }),
  };
}

/** What the containers of a pod request together, and what the pod itself needs: runtimes with virtual machines size these by it. */
export function sandboxResources(pod: core.Pod, facts: CgroupFacts): SandboxResources {
  const { overhead, ...spec } = pod.spec ?? { containers: [] };
  const containers = withoutStatus({ ...pod, spec });
  const [requests, limits] = [quota.podRequests(containers), quota.podLimits(containers)];
  const cpuLimit = limits.get('cpu');
  const hasOwnCpus = spec.containers.some(({ name }) => facts.hasExclusiveCpus?.(pod.metadata.uid ?? '', name) === true);
  const sum = { cpuRequest: requests.get('cpu') ?? cpuLimit, cpuLimit, memoryLimit: limits.get('memory'), hasOwnCpus };
  return {
    resources: { ...cpuAndMemory(sum, facts), ...unifiedFiles(facts) },
    ...(overhead && { overhead: { ...overheadResources(overhead, facts), ...unifiedFiles(facts) } }),
  };
}

/** Requests and limits at once. */
function overheadResources(overhead: Readonly<Record<string, string>>, facts: CgroupFacts): ContainerResources {
  const cpu = amount(overhead.cpu);
  return cpuAndMemory({ cpuRequest: cpu, cpuLimit: cpu, memoryLimit: amount(overhead.memory), hasOwnCpus: false }, facts);
}

interface CpuAndMemory {
  readonly cpuRequest: Quantity | undefined;
  readonly cpuLimit: Quantity | undefined;
  readonly memoryLimit: Quantity | undefined;
  readonly hasOwnCpus: boolean;
}

function cpuAndMemory({ cpuRequest, cpuLimit, memoryLimit, hasOwnCpus }: CpuAndMemory, facts: CgroupFacts): ContainerResources {
  const { cpuQuotaPeriodUs: cpuPeriod = PERIOD_US } = facts;
  const memory = memoryLimit?.value() ?? 0;
  return {
    cpuShares: milliCpuToShares(cpuRequest?.milliValue() ?? 0),
    ...(cpuPeriod > 0 && { cpuQuota: hasOwnCpus ? -1 : milliCpuToQuota(cpuLimit?.milliValue() ?? 0, cpuPeriod), cpuPeriod }),
    ...(memory > 0 && { memoryLimitInBytes: memory }),
  };
}

function unifiedFiles(facts: CgroupFacts): Pick<ContainerResources, 'unified'> {
  const files = oomGroup(facts);
  return files === undefined ? {} : { unified: files };
}

function oomGroup({ killsOomGroup }: CgroupFacts): Readonly<Record<string, string>> | undefined {
  return killsOomGroup ? { 'memory.oom.group': '1' } : undefined;
}

/** Pod-level limits apply to containers without their own. */
function podLimit({ spec }: core.Pod, resource: string): string | undefined {
  return spec?.resources?.limits?.[resource];
}

function amount(text: string | undefined): Quantity | undefined {
  return text === undefined ? undefined : Quantity.parse(text);
}

export function milliCpuToShares(milli: number): number {
  if (milli === 0) return MIN_SHARES;
  return Math.min(MAX_SHARES, Math.max(MIN_SHARES, Math.floor((milli * SHARES_PER_CPU) / 1000)));
}

export function milliCpuToQuota(milli: number, periodUs = PERIOD_US): number {
  if (milli === 0) return 0;
  return Math.max(MIN_QUOTA_US, Math.floor((milli * periodUs) / 1000));
}

function hugepageLimits(pod: core.Pod, container: core.Container, sizes: readonly string[]) {
  const limits = new Map<string, number>();
  for (const list of [pod.spec?.resources?.limits, container.resources?.limits]) {
    for (const [name, text] of Object.entries(list ?? {})) {
      if (name.startsWith('hugepages-'))
        limits.set(pageSizeText(Quantity.parse(name.slice('hugepages-'.length)).value()), Quantity.parse(text).value());
    }
  }
  return sizes.map((pageSize) => ({ pageSize, limit: limits.get(pageSize) ?? 0 }));
}

/** As in the names of cgroup files: `2MB`, `1GB`. */
export function pageSizeText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let unit = 0;
  let left = bytes;
  while (left >= 1024 && left % 1024 === 0 && unit < units.length - 1) {
    left /= 1024;
    unit++;
  }
  return `${left}${units[unit]}`;
}
