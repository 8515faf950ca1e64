/** CRI messages about usage (api.proto). */
import { embedded, enumeration, field, message, repeated, stringMap, wrapped } from '#base';
import { ContainerMetadata } from './container.ts';
import { FilesystemUsage } from './image.ts';
import { SandboxMetadata } from './sandbox.ts';
import { nanosAsMs } from './time-fields.ts';

const PsiData = message({ total: field(1, 'uint64'), avg10: field(2, 'double'), avg60: field(3, 'double'), avg300: field(4, 'double') });
const PsiStats = message({ full: embedded(1, PsiData), some: embedded(2, PsiData) });

const CpuUsage = message({
  timestampMs: nanosAsMs(1),
  usageCoreNanoSeconds: wrapped(2, 'uint64'),
  usageNanoCores: wrapped(3, 'uint64'),
  psi: field(4, PsiStats),
});

const MemoryUsage = message({
  timestampMs: nanosAsMs(1),
  workingSetBytes: wrapped(2, 'uint64'),
  availableBytes: wrapped(3, 'uint64'),
  usageBytes: wrapped(4, 'uint64'),
  rssBytes: wrapped(5, 'uint64'),
  pageFaults: wrapped(6, 'uint64'),
  majorPageFaults: wrapped(7, 'uint64'),
  psi: field(8, PsiStats),
});

const SwapUsage = message({
  timestampMs: nanosAsMs(1),
  swapAvailableBytes: wrapped(2, 'uint64'),
  swapUsageBytes: wrapped(3, 'uint64'),
});

const IoUsage = message({ timestampMs: nanosAsMs(1), psi: field(2, PsiStats) });

const NetworkInterfaceUsage = message({
  name: field(1, 'string'),
  rxBytes: wrapped(2, 'uint64'),
  rxErrors: wrapped(3, 'uint64'),
  txBytes: wrapped(4, 'uint64'),
  txErrors: wrapped(5, 'uint64'),
});

const NetworkUsage = message({
  timestampMs: nanosAsMs(1),
  defaultInterface: field(2, NetworkInterfaceUsage),
  interfaces: repeated(3, NetworkInterfaceUsage),
});

const ProcessUsage = message({ timestampMs: nanosAsMs(1), processCount: wrapped(2, 'uint64') });

const ContainerAttributes = message({
  id: field(1, 'string'),
  metadata: embedded(2, ContainerMetadata),
  labels: stringMap(3),
  annotations: stringMap(4),
});

const ContainerStats = message({
  attributes: embedded(1, ContainerAttributes),
  cpu: field(2, CpuUsage),
  memory: field(3, MemoryUsage),
  writableLayer: field(4, FilesystemUsage),
  swap: field(5, SwapUsage),
  io: field(6, IoUsage),
});

export const ContainerStatsResponse = message({ stats: field(1, ContainerStats) });
export const ListContainerStatsRequest = message({
  filter: field(1, message({ id: field(1, 'string'), sandboxId: field(2, 'string'), labelSelector: stringMap(3) })),
});
export const ListContainerStatsResponse = message({ stats: repeated(1, ContainerStats) });

const SandboxAttributes = message({
  id: field(1, 'string'),
  metadata: embedded(2, SandboxMetadata),
  labels: stringMap(3),
  annotations: stringMap(4),
});

const LinuxSandboxStats = message({
  cpu: field(1, CpuUsage),
  memory: field(2, MemoryUsage),
  network: field(3, NetworkUsage),
  process: field(4, ProcessUsage),
  containers: repeated(5, ContainerStats),
  io: field(6, IoUsage),
});

const SandboxStats = message({ attributes: embedded(1, SandboxAttributes), linux: embedded(2, LinuxSandboxStats) });

export const PodSandboxStatsResponse = message({ stats: field(1, SandboxStats) });
export const ListPodSandboxStatsRequest = message({ filter: field(1, message({ id: field(1, 'string'), labelSelector: stringMap(2) })) });
export const ListPodSandboxStatsResponse = message({ stats: repeated(1, SandboxStats) });

const MetricDescriptor = message({ name: field(1, 'string'), help: field(2, 'string'), labelKeys: repeated(3, 'string') });
export const ListMetricDescriptorsResponse = message({ descriptors: repeated(1, MetricDescriptor) });

const Metric = message({
  name: field(1, 'string'),
  timestampMs: nanosAsMs(2),
  metricType: field(3, enumeration('counter', 'gauge')),
  labelValues: repeated(4, 'string'),
  value: embedded(5, message({ value: field(1, 'uint64') })),
});
const ContainerMetrics = message({ containerId: field(1, 'string'), metrics: repeated(2, Metric) });
const SandboxMetrics = message({
  sandboxId: field(1, 'string'),
  metrics: repeated(2, Metric),
  containerMetrics: repeated(3, ContainerMetrics),
});
export const ListPodSandboxMetricsResponse = message({ podMetrics: repeated(1, SandboxMetrics) });
