import type { core } from '#api';
import { type Clock, maxOf } from '#base';
import type { FileSystemFigures, MachineUsage, NodeMonitoring } from '../cadvisor/node-monitoring.ts';
import type {
  ContainerRuntime,
  ContainerStats,
  CpuUsage,
  FilesystemUsage,
  MemoryUsage,
  NetworkUsage,
  SandboxStats,
  SwapUsage,
} from '../cri/runtime.ts';
import type { PodUse, PodUses } from '../eviction/measurements.ts';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import type { VolumeUsage } from '../volumes/pod-volumes.ts';
import { volumeStats } from './volume-stats.ts';

export interface StatsDeps {
  readonly clock: Clock;
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  pods(): readonly core.Pod[];
  volumeUsage?(podUid: string): Promise<readonly VolumeUsage[]>;
  /** Undefined: the node is simulated, or not running. */
  monitoring?(): NodeMonitoring | undefined;
  /** The usage of logs, layers and local volumes by pod. */
  podUses?(pods: readonly core.Pod[]): Promise<PodUses>;
}

/** A running pod with its usage. */
export interface PodUsage {
  readonly pod: core.Pod;
  readonly stats: SandboxStats;
}

export async function podUsages({ runtime, pods }: Pick<StatsDeps, 'runtime' | 'pods'>): Promise<readonly PodUsage[]> {
  const byUid = new Map(pods().map((pod) => [pod.metadata.uid ?? '', pod]));
  const usages: PodUsage[] = [];
  for (const stats of await runtime.listPodSandboxStats()) {
    const { labels, metadata } = stats.attributes;
    const pod = byUid.get(labels[POD_UID] ?? metadata.uid);
    if (pod !== undefined) usages.push({ pod, stats });
  }
  return usages;
}

export function containerName({ attributes }: ContainerStats): string {
  return attributes.labels[CONTAINER_NAME] ?? attributes.metadata.name;
}

/** The body of `/stats/summary`: CPU, memory, network and disk usage of the node and every pod. */
export async function statsSummary(deps: StatsDeps): Promise<object> {
  const usages = await podUsages(deps);
  const machine = await deps.monitoring?.()?.usage();
  const uses = await deps.podUses?.(usages.map(({ pod }) => pod));
  const statsOf = async (usage: PodUsage) => ({
    ...podStats(usage, { machine, use: uses?.get(usage.pod.metadata.uid ?? ''), time: time(deps.clock.now()) }),
    ...(await volumesOf(usage, deps)),
  });
  const node = machine === undefined ? sumOfPods(deps.nodeName, usages) : machineStats(deps.nodeName, machine);
  return { node, pods: await Promise.all(usages.map(statsOf)) };
}

/** Additional data for a pod's stats. */
interface PodStatsSources {
  readonly machine: MachineUsage | undefined;
  readonly use: PodUse | undefined;
  readonly time: string;
}

function machineStats(nodeName: string, machine: MachineUsage): object {
  const { timeMs, memory, memoryBytes, interfaces, swapBytes } = machine;
  const now = time(timeMs);
  const { usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults } = memory;
  const links = interfaces.map(({ interface: name, rxBytes, rxErrors, txBytes, txErrors }) => ({
    ...{ name, rxBytes, rxErrors, txBytes, txErrors },
  }));
  return {
    ...{ nodeName, startTime: time(machine.bootMs) },
    cpu: { time: now, usageNanoCores: machine.nanoCores, usageCoreNanoSeconds: machine.cpuNs },
    memory: {
      ...{ time: now, availableBytes: Math.max(0, memoryBytes - workingSetBytes) },
      ...{ usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults },
    },
    network: { time: now, ...links.find(({ name }) => name === 'eth0'), interfaces: links },
    fs: { time: now, ...machine.fileSystem },
    runtime: { imageFs: { time: now, ...machine.imageFileSystem }, containerFs: { time: now, ...machine.imageFileSystem } },
    rlimit: { time: now, maxpid: machine.maxProcesses, curproc: machine.processes },
    swap: { time: now, swapAvailableBytes: Math.max(0, swapBytes - memory.swapBytes), swapUsageBytes: memory.swapBytes },
  };
}

/** Absent for pods without measured volumes. */
async function volumesOf({ pod }: PodUsage, deps: StatsDeps): Promise<object> {
  const volumes = await volumeStats(pod, deps);
  return volumes.length === 0 ? {} : { volume: volumes };
}

/** For simulated machines, which run nothing but pods. */
function sumOfPods(nodeName: string, usages: readonly PodUsage[]): object {
  const total = (part: (stats: SandboxStats) => number | undefined) => usages.reduce((sum, { stats }) => sum + (part(stats) ?? 0), 0);
  const timestampMs = maxOf(
    usages.map(({ stats }) => stats.cpu?.timestampMs ?? 0),
    0,
  );
  return {
    nodeName,
    ...(timestampMs > 0 && {
      cpu: cpuStats({
        timestampMs,
        usageNanoCores: total(({ cpu }) => cpu?.usageNanoCores),
        usageCoreNanoSeconds: total(({ cpu }) => cpu?.usageCoreNanoSeconds),
      }),
      memory: memoryStats({
        timestampMs,
        workingSetBytes: total(({ memory }) => memory?.workingSetBytes),
        usageBytes: total(({ memory }) => memory?.usageBytes),
        rssBytes: total(({ memory }) => memory?.rssBytes),
      }),
    }),
  };
}

function podStats({ pod, stats }: PodUsage, around: PodStatsSources): object {
  const { name, namespace, uid } = pod.metadata;
  return {
    podRef: { name, namespace, uid },
    startTime: pod.status?.startTime ?? null,
    containers: stats.containers.map((container) => containerStats(container, pod, around)),
    ...(stats.cpu && { cpu: cpuStats(stats.cpu) }),
    ...(stats.memory && { memory: memoryStats(stats.memory) }),
    ...(stats.network && { network: networkStats(stats.network) }),
    ...ephemeralStorage(around),
    ...(stats.processCount !== undefined && { process_stats: { process_count: stats.processCount } }),
  };
}

/** The pod's usage of the node's disk. */
function ephemeralStorage({ machine, use, time: now }: PodStatsSources): object {
  if (machine === undefined || use === undefined) return {};
  const { containers, volumeBytes, volumeInodes } = use;
  const sum = (part: (container: (typeof containers)[number]) => number | undefined) =>
    containers.reduce((total, container) => total + (part(container) ?? 0), 0);
  const usedBytes = volumeBytes + sum(({ rootfsBytes }) => rootfsBytes) + sum(({ logBytes }) => logBytes);
  const inodesUsed = volumeInodes + sum(({ rootfsInodes }) => rootfsInodes) + sum(({ logInodes }) => logInodes);
  return { 'ephemeral-storage': { time: now, ...room(machine.fileSystem), usedBytes, inodesUsed } };
}

/** The available space of a file system, regardless of who uses the rest. */
function room({ availableBytes, capacityBytes, inodes, inodesFree }: FileSystemFigures): object {
  return { availableBytes, capacityBytes, inodes, inodesFree };
}

function logsStats(name: string, { machine, use, time: now }: PodStatsSources): object {
  const own = use?.containers.find((container) => container.name === name);
  if (machine === undefined || own === undefined) return {};
  return { logs: { time: now, ...room(machine.fileSystem), usedBytes: own.logBytes, inodesUsed: own.logInodes } };
}

function containerStats(stats: ContainerStats, pod: core.Pod, around: PodStatsSources): object {
  const name = containerName(stats);
  const { machine } = around;
  return {
    name,
    startTime: startTimeOf(pod, name),
    ...(stats.cpu && { cpu: cpuStats(stats.cpu) }),
    ...(stats.memory && { memory: memoryStats(stats.memory) }),
    ...(stats.writableLayer && { rootfs: { ...(machine && room(machine.imageFileSystem)), ...filesystemStats(stats.writableLayer) } }),
    ...logsStats(name, around),
    ...(stats.swap && { swap: swapStats(stats.swap) }),
  };
}

export function startTimeOf({ status }: core.Pod, container: string): string | null {
  const all = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  return all.find(({ name }) => name === container)?.state?.running?.startedAt ?? null;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function cpuStats({ timestampMs, usageNanoCores, usageCoreNanoSeconds }: CpuUsage): object {
  return { time: time(timestampMs), usageNanoCores, usageCoreNanoSeconds };
}

function memoryStats({
  timestampMs,
  availableBytes,
  usageBytes,
  workingSetBytes,
  rssBytes,
  pageFaults,
  majorPageFaults,
}: MemoryUsage): object {
  return { time: time(timestampMs), availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults };
}

function swapStats({ timestampMs, swapAvailableBytes, swapUsageBytes }: SwapUsage): object {
  return { time: time(timestampMs), swapAvailableBytes, swapUsageBytes };
}

function networkStats({ timestampMs, defaultInterface, interfaces }: NetworkUsage): object {
  return { time: time(timestampMs), ...defaultInterface, interfaces };
}

function filesystemStats({ timestampMs, usedBytes, inodesUsed }: FilesystemUsage): object {
  return { time: time(timestampMs), usedBytes, inodesUsed };
}
