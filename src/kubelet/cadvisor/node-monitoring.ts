import type { core } from '#api';
import type { MachineSample } from './cadvisor-text.ts';
import type { ContainerSample, InterfaceUsage } from './container-sample.ts';

export interface FileSystemFigures {
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly inodesUsed: number;
}

/** The usage of the whole machine. */
export interface MachineUsage {
  readonly timeMs: number;
  readonly bootMs: number;
  readonly cpuNs: number;
  /** Since the previous call; undefined the first time. */
  readonly nanoCores: number | undefined;
  readonly memory: ContainerSample['usage']['memory'];
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly interfaces: readonly InterfaceUsage[];
  /** Of the kubelet's directory. */
  readonly fileSystem: FileSystemFigures;
  /** Of the runtime's images and layers. */
  readonly imageFileSystem: FileSystemFigures;
  readonly maxProcesses: number;
  readonly processes: number;
}

/** Reads the usage of a real machine and its pods, for monitoring. */
export interface NodeMonitoring {
  machine(): Promise<MachineSample>;
  usage(): Promise<MachineUsage>;
  /** Of the machine, kubepods, each pod and their containers. */
  samples(pods: readonly core.Pod[]): Promise<readonly ContainerSample[]>;
}
