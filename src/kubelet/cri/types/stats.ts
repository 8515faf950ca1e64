import type { ContainerMetadata } from './container.ts';
import type { FilesystemUsage } from './image.ts';
import type { SandboxMetadata, StringMap } from './sandbox.ts';

/** Pressure stall information, as the kernel reports it. */
export interface PsiData {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface PsiStats {
  readonly full: PsiData;
  readonly some: PsiData;
}

export interface CpuUsage {
  readonly timestampMs: number;
  readonly usageCoreNanoSeconds?: number;
  readonly usageNanoCores?: number;
  readonly psi?: PsiStats;
}

export interface MemoryUsage {
  readonly timestampMs: number;
  readonly workingSetBytes?: number;
  readonly availableBytes?: number;
  readonly usageBytes?: number;
  readonly rssBytes?: number;
  readonly pageFaults?: number;
  readonly majorPageFaults?: number;
  readonly psi?: PsiStats;
}

export interface SwapUsage {
  readonly timestampMs: number;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
}

export interface IoUsage {
  readonly timestampMs: number;
  readonly psi?: PsiStats;
}

export interface NetworkInterfaceUsage {
  readonly name: string;
  readonly rxBytes?: number;
  readonly rxErrors?: number;
  readonly txBytes?: number;
  readonly txErrors?: number;
}

export interface NetworkUsage {
  readonly timestampMs: number;
  readonly defaultInterface?: NetworkInterfaceUsage;
  readonly interfaces: readonly NetworkInterfaceUsage[];
}

export interface ContainerStats {
  readonly attributes: {
    readonly id: string;
    readonly metadata: ContainerMetadata;
    readonly labels: StringMap;
    readonly annotations: StringMap;
  };
  readonly cpu?: CpuUsage;
  readonly memory?: MemoryUsage;
  readonly writableLayer?: FilesystemUsage;
  readonly swap?: SwapUsage;
  readonly io?: IoUsage;
}

export interface SandboxStats {
  readonly attributes: {
    readonly id: string;
    readonly metadata: SandboxMetadata;
    readonly labels: StringMap;
    readonly annotations: StringMap;
  };
  readonly cpu?: CpuUsage;
  readonly memory?: MemoryUsage;
  readonly network?: NetworkUsage;
  readonly processCount?: number;
  readonly io?: IoUsage;
  readonly containers: readonly ContainerStats[];
}

export interface ContainerStatsFilter {
  readonly id?: string;
  readonly sandboxId?: string;
  readonly labelSelector?: StringMap;
}

export interface SandboxStatsFilter {
  readonly id?: string;
  readonly labelSelector?: StringMap;
}

export interface MetricDescriptor {
  readonly name: string;
  readonly help: string;
  readonly labelKeys: readonly string[];
}

export interface Metric {
  readonly name: string;
  readonly timestampMs: number;
  readonly metricType: 'counter' | 'gauge';
  /** In the order of the descriptor's keys. */
  readonly labelValues: readonly string[];
  readonly value: number;
}

export interface SandboxMetrics {
  readonly sandboxId: string;
  readonly metrics: readonly Metric[];
  readonly containerMetrics: readonly { readonly containerId: string; readonly metrics: readonly Metric[] }[];
}
