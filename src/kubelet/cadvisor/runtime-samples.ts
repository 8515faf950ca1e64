import type { Clock } from '#base';
import type { CgroupUsage } from '../cgroups/cgroup-usage.ts';
import type { ContainerStats, SandboxStats } from '../cri/runtime.ts';
import { CONTAINER_NAME } from '../pods/labels.ts';
import type { PodUsage } from '../server/stats-summary.ts';
import type { ContainerSample } from './container-sample.ts';

type RuntimeStats = Pick<SandboxStats | ContainerStats, 'cpu' | 'memory'>;

/** Samples from the runtime's own stats, for simulated nodes, which have no cgroups. */
export function runtimeSamples(usages: readonly PodUsage[], clock: Clock): readonly ContainerSample[] {
  const seenMs = clock.now();
  return usages.flatMap(({ pod, stats }) => {
    const of = { namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name ?? '' };
    const createdMs = Date.parse(pod.status?.startTime ?? new Date(seenMs).toISOString());
    const times = { seenMs, createdMs, startedMs: createdMs };
    const containers = stats.containers.map(({ attributes: { id, labels, metadata }, ...measured }) => ({
      ...{ ...times, io: [], interfaces: [], usage: usageOf(measured) },
      labels: { ...of, id: `/${id}`, name: id, image: imageOf(pod, metadata.name), container: labels[CONTAINER_NAME] ?? metadata.name },
      fileSystems: fileSystemsOf(measured),
    }));
    const { id } = stats.attributes;
    const sandbox = {
      ...{ ...times, io: [], fileSystems: [], usage: usageOf(stats) },
      labels: { ...of, id: `/${id}`, name: id, image: '', container: '' },
      interfaces: (stats.network?.interfaces ?? []).map(({ name, rxBytes = 0, rxErrors = 0, txBytes = 0, txErrors = 0 }) => ({
        ...{ interface: name, rxBytes, rxErrors, txBytes, txErrors },
        ...{ rxPackets: 0, rxDropped: 0, txPackets: 0, txDropped: 0 },
      })),
    };
    return [sandbox, ...containers];
  });
}

function imageOf({ spec }: PodUsage['pod'], container: string): string {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find(({ name }) => name === container)?.image ?? '';
}

function fileSystemsOf({ writableLayer }: Pick<ContainerStats, 'writableLayer'>): ContainerSample['fileSystems'] {
  return writableLayer === undefined
    ? []
    : [{ device: writableLayer.mountpoint, usageBytes: writableLayer.usedBytes ?? 0, limitBytes: 0, inodes: 0, inodesFree: 0 }];
}

const NO_MEMORY: CgroupUsage['memory'] = {
  ...{ usageBytes: 0, workingSetBytes: 0, rssBytes: 0, cacheBytes: 0, mappedFileBytes: 0, swapBytes: 0, kernelBytes: 0 },
  ...{ activeFileBytes: 0, inactiveFileBytes: 0, pageFaults: 0, majorPageFaults: 0, maxUsageBytes: 0, limitHits: 0, oomKills: 0 },
};

const NO_SPEC: CgroupUsage['spec'] = {
  ...{ cpuShares: 0, cpuPeriodUs: 0, cpuQuotaUs: 0, memoryLimitBytes: 0 },
  ...{ memorySwapLimitBytes: 0, memoryReservationBytes: 0, pidsLimit: 0 },
};

function usageOf({ cpu, memory }: RuntimeStats): CgroupUsage {
  const { usageBytes = 0, workingSetBytes = 0, rssBytes = 0, pageFaults = 0, majorPageFaults = 0 } = memory ?? {};
  return {
    cpu: { usageNs: cpu?.usageCoreNanoSeconds ?? 0, userNs: 0, systemNs: 0, periods: 0, throttledPeriods: 0, throttledNs: 0 },
    memory: { ...NO_MEMORY, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults },
    ...{ io: [], threads: 0, spec: NO_SPEC },
  };
}
