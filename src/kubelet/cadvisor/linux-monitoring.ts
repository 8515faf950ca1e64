import { readFile, statfs } from 'node:fs/promises';
import type { MachineInfoSource } from '../node/machine-info.ts';
import { readMachineTopology } from '../resources/machine-topology.ts';
import type { MachineSample } from './cadvisor-text.ts';
import { type LinuxSamplesDeps, linuxSamples } from './linux-samples.ts';
import { parseNetDev } from './network-usage.ts';
import type { FileSystemFigures, MachineUsage, NodeMonitoring } from './node-monitoring.ts';

export interface LinuxMonitoringDeps extends LinuxSamplesDeps {
  readonly info: MachineInfoSource;
  processes(): Promise<{ readonly capacity: number; readonly available: number }>;
}

/** CPU rates over shorter intervals are too inaccurate. */
const MIN_RATE_MS = 1000;

interface CpuReading {
  readonly timeMs: number;
  readonly cpuNs: number;
}

/** Reads /proc, /sys and the cgroups of this machine. */
export function linuxMonitoring(deps: LinuxMonitoringDeps): NodeMonitoring {
  let [before, rate]: [CpuReading | undefined, number | undefined] = [undefined, undefined];
  const nanoCores = (now: CpuReading) => {
    if (before !== undefined && now.timeMs - before.timeMs < MIN_RATE_MS) return rate;
    rate = before && Math.round(((now.cpuNs - before.cpuNs) / (now.timeMs - before.timeMs)) * 1000);
    before = now;
    return rate;
  };
  return {
    machine: () => machineSample(deps),
    samples: (pods) => linuxSamples(pods, deps),
    async usage() {
      const usage = await machineUsage(deps);
      return { ...usage, nanoCores: nanoCores(usage) };
    },
  };
}

async function machineSample({ info }: LinuxMonitoringDeps): Promise<MachineSample> {
  const [facts, topology] = await Promise.all([info.read(), readMachineTopology()]);
  return { ...facts, topology };
}

async function machineUsage(deps: LinuxMonitoringDeps): Promise<Omit<MachineUsage, 'nanoCores'>> {
  const { tree, clock, info, rootDir, runtime, processes } = deps;
  const { imageFilesystems } = await runtime.imageFsInfo();
  const fileSystem = await figuresOf(rootDir);
  const [root, facts, pids, devices, stat, images] = await Promise.all([
    tree.usage(''),
    info.read(),
    processes(),
    readFile('/proc/net/dev', 'utf8'),
    readFile('/proc/stat', 'utf8'),
    figuresOf(imageFilesystems[0]?.mountpoint || rootDir).catch(() => fileSystem),
  ]);
  return {
    ...{ timeMs: clock.now(), bootMs: bootMs(stat), cpuNs: root.cpu.usageNs, memory: root.memory },
    ...{ memoryBytes: facts.memoryBytes, swapBytes: facts.swapBytes, interfaces: parseNetDev(devices), fileSystem },
    imageFileSystem: { ...images, usedBytes: imageFilesystems[0]?.usedBytes ?? images.usedBytes },
    ...{ maxProcesses: pids.capacity, processes: pids.capacity - pids.available },
  };
}

/** The line `btime 1700000000` of /proc/stat. */
function bootMs(stat: string): number {
  const line = stat.split('\n').find((candidate) => candidate.startsWith('btime '));
  return Number(line?.slice('btime '.length) ?? 0) * 1000;
}

async function figuresOf(path: string): Promise<FileSystemFigures> {
  const { blocks, bavail, bfree, bsize, files, ffree } = await statfs(path);
  return {
    ...{ availableBytes: bavail * bsize, capacityBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize },
    ...{ inodes: files, inodesFree: ffree, inodesUsed: files - ffree },
  };
}
