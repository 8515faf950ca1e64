import type { CgroupUsage } from '../cgroups/cgroup-usage.ts';

/** The labels of a container's series. Empty: not of a pod, or of the whole pod. */
export interface SampleLabels {
  readonly container: string;
  /** The path of the cgroup. */
  readonly id: string;
  readonly image: string;
  /** The id of the container or sandbox in the runtime. */
  readonly name: string;
  readonly namespace: string;
  readonly pod: string;
}

/** One interface of a network namespace, as /proc/net/dev counts it. */
export interface InterfaceUsage {
  readonly interface: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

export interface FileSystemSample {
  /** Such as `/dev/sda1`. */
  readonly device: string;
  readonly usageBytes: number;
  readonly limitBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

export interface ProcessUsage {
  readonly processes: number;
  readonly fileDescriptors: number;
  readonly sockets: number;
  /** The limit of the first process; undefined: unlimited, or no process. */
  readonly maxOpenFiles?: number | undefined;
}

/** A sample of one cgroup: the machine, a QoS class, a pod, its sandbox, or a container. */
export interface ContainerSample {
  readonly labels: SampleLabels;
  readonly seenMs: number;
  readonly createdMs: number;
  readonly startedMs: number;
  readonly usage: CgroupUsage;
  /** By device name instead of numbers. */
  readonly io: CgroupUsage['io'];
  readonly fileSystems: readonly FileSystemSample[];
  readonly interfaces: readonly InterfaceUsage[];
  readonly processes?: ProcessUsage | undefined;
}
