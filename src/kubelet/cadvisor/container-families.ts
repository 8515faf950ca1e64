import type { CgroupPressure } from '../cgroups/cgroup-usage.ts';
import type { ContainerSample, FileSystemSample, InterfaceUsage } from './container-sample.ts';

/** One series of a family: its own label values and its value. */
export interface Point {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A container metric of cAdvisor: name, type, and labels besides the sample's. */
export interface ContainerFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels?: readonly string[];
  points(sample: ContainerSample): readonly Point[];
}

const SECOND_NS = 1e9;

function single(
  type: 'counter' | 'gauge',
  [name, help]: readonly [string, string],
  value: (sample: ContainerSample) => number | undefined,
): ContainerFamily {
  const points = (sample: ContainerSample) => {
    const reading = value(sample);
    return reading === undefined ? [] : [{ value: reading }];
  };
  return { name, help, type, points };
}

const GENERAL: readonly ContainerFamily[] = [
  single('gauge', ['container_last_seen', 'Last time a container was seen by the exporter'], ({ seenMs }) => Math.floor(seenMs / 1000)),
  single(
    'gauge',
    ['container_creation_time_seconds', 'Container creation time since unix epoch in seconds.'],
    ({ createdMs }) => createdMs / 1000,
  ),
  single(
    'gauge',
    ['container_start_time_seconds', 'Start time of the container since unix epoch in seconds.'],
    ({ startedMs }) => startedMs / 1000,
  ),
];

/** Absent without a limit, as upstream: its alerts divide by the periods. */
function ifLimited({ usage }: ContainerSample, value: number): number | undefined {
  return usage.spec.cpuQuotaUs > 0 ? value : undefined;
}

const CPU: readonly ContainerFamily[] = [
  single(
    'counter',
    ['container_cpu_user_seconds_total', 'Cumulative user cpu time consumed in seconds.'],
    ({ usage }) => usage.cpu.userNs / SECOND_NS,
  ),
  single(
    'counter',
    ['container_cpu_system_seconds_total', 'Cumulative system cpu time consumed in seconds.'],
    ({ usage }) => usage.cpu.systemNs / SECOND_NS,
  ),
  {
    name: 'container_cpu_usage_seconds_total',
    help: 'Cumulative cpu time consumed in seconds.',
    type: 'counter',
    labels: ['cpu'],
    points: ({ usage }) => [{ labels: { cpu: 'total' }, value: usage.cpu.usageNs / SECOND_NS }],
  },
  single('counter', ['container_cpu_cfs_periods_total', 'Number of elapsed enforcement period intervals.'], (sample) =>
    ifLimited(sample, sample.usage.cpu.periods),
  ),
  single('counter', ['container_cpu_cfs_throttled_periods_total', 'Number of throttled period intervals.'], (sample) =>
    ifLimited(sample, sample.usage.cpu.throttledPeriods),
  ),
  single('counter', ['container_cpu_cfs_throttled_seconds_total', 'Total time duration the container has been throttled.'], (sample) =>
    ifLimited(sample, sample.usage.cpu.throttledNs / SECOND_NS),
  ),
];

type MemoryFigure = keyof ContainerSample['usage']['memory'];

const MEMORY_FIGURES: readonly (readonly ['counter' | 'gauge', string, string, MemoryFigure])[] = [
  ['gauge', 'container_memory_cache', 'Number of bytes of page cache memory.', 'cacheBytes'],
  ['gauge', 'container_memory_rss', 'Size of RSS in bytes.', 'rssBytes'],
  ['gauge', 'container_memory_kernel_usage', 'Size of kernel memory allocated in bytes.', 'kernelBytes'],
  ['gauge', 'container_memory_mapped_file', 'Size of memory mapped files in bytes.', 'mappedFileBytes'],
  ['gauge', 'container_memory_swap', 'Container swap usage in bytes.', 'swapBytes'],
  ['counter', 'container_memory_failcnt', 'Number of memory usage hits limits', 'limitHits'],
  [
    ...(['gauge', 'container_memory_usage_bytes'] as const),
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    'usageBytes',
  ],
  ['gauge', 'container_memory_max_usage_bytes', 'Maximum memory usage recorded in bytes', 'maxUsageBytes'],
  ['gauge', 'container_memory_working_set_bytes', 'Current working set in bytes.', 'workingSetBytes'],
  ['gauge', 'container_memory_total_active_file_bytes', 'Current total active file in bytes.', 'activeFileBytes'],
  ['gauge', 'container_memory_total_inactive_file_bytes', 'Current total inactive file in bytes.', 'inactiveFileBytes'],
  ['counter', 'container_oom_events_total', 'Count of out of memory events observed for the container', 'oomKills'],
];

const MEMORY: readonly ContainerFamily[] = [
  ...MEMORY_FIGURES.map(([type, name, help, figure]) => single(type, [name, help], ({ usage }) => usage.memory[figure])),
  {
    name: 'container_memory_failures_total',
    help: 'Cumulative count of memory allocation failures.',
    type: 'counter',
    labels: ['failure_type', 'scope'],
    points: ({ usage: { memory } }) =>
      ['container', 'hierarchy'].flatMap((scope) => [
        { labels: { failure_type: 'pgfault', scope }, value: memory.pageFaults },
        { labels: { failure_type: 'pgmajfault', scope }, value: memory.majorPageFaults },
      ]),
  },
];

const FILE_SYSTEM_FIGURES: readonly (readonly [string, string, Exclude<keyof FileSystemSample, 'device'>])[] = [
  ['container_fs_inodes_free', 'Number of available Inodes', 'inodesFree'],
  ['container_fs_inodes_total', 'Number of Inodes', 'inodes'],
  ['container_fs_limit_bytes', 'Number of bytes that can be consumed by the container on this filesystem.', 'limitBytes'],
  ['container_fs_usage_bytes', 'Number of bytes that are consumed by the container on this filesystem.', 'usageBytes'],
];

const IO_FIGURES: readonly (readonly [string, string, 'readBytes' | 'writeBytes' | 'reads' | 'writes'])[] = [
  ['container_fs_reads_bytes_total', 'Cumulative count of bytes read', 'readBytes'],
  ['container_fs_reads_total', 'Cumulative count of reads completed', 'reads'],
  ['container_fs_writes_bytes_total', 'Cumulative count of bytes written', 'writeBytes'],
  ['container_fs_writes_total', 'Cumulative count of writes completed', 'writes'],
];

const DISKS: readonly ContainerFamily[] = [
  ...FILE_SYSTEM_FIGURES.map(
    ([name, help, figure]): ContainerFamily => ({
      ...{ name, help, type: 'gauge', labels: ['device'] },
      points: ({ fileSystems }) => fileSystems.map(({ device, [figure]: value }) => ({ labels: { device }, value })),
    }),
  ),
  ...IO_FIGURES.map(
    ([name, help, figure]): ContainerFamily => ({
      ...{ name, help, type: 'counter', labels: ['device'] },
      points: ({ io }) => io.map(({ device, [figure]: value }) => ({ labels: { device }, value })),
    }),
  ),
];

const NETWORK_FIGURES: readonly (readonly [string, string, Exclude<keyof InterfaceUsage, 'interface'>])[] = [
  ['container_network_receive_bytes_total', 'Cumulative count of bytes received', 'rxBytes'],
  ['container_network_receive_packets_total', 'Cumulative count of packets received', 'rxPackets'],
  ['container_network_receive_packets_dropped_total', 'Cumulative count of packets dropped while receiving', 'rxDropped'],
  ['container_network_receive_errors_total', 'Cumulative count of errors encountered while receiving', 'rxErrors'],
  ['container_network_transmit_bytes_total', 'Cumulative count of bytes transmitted', 'txBytes'],
  ['container_network_transmit_packets_total', 'Cumulative count of packets transmitted', 'txPackets'],
  ['container_network_transmit_packets_dropped_total', 'Cumulative count of packets dropped while transmitting', 'txDropped'],
  ['container_network_transmit_errors_total', 'Cumulative count of errors encountered while transmitting', 'txErrors'],
];

const NETWORK: readonly ContainerFamily[] = NETWORK_FIGURES.map(([name, help, figure]) => ({
  ...{ name, help, type: 'counter', labels: ['interface'] },
  points: ({ interfaces }) => interfaces.map(({ interface: device, [figure]: value }) => ({ labels: { interface: device }, value })),
}));

const PROCESSES: readonly ContainerFamily[] = [
  single('gauge', ['container_processes', 'Number of processes running inside the container.'], ({ processes }) => processes?.processes),
  single(
    'gauge',
    ['container_file_descriptors', 'Number of open file descriptors for the container.'],
    ({ processes }) => processes?.fileDescriptors,
  ),
  single('gauge', ['container_sockets', 'Number of open sockets for the container.'], ({ processes }) => processes?.sockets),
  single(
    'gauge',
    ['container_threads_max', 'Maximum number of threads allowed inside the container, infinity if value is zero'],
    ({ usage }) => usage.spec.pidsLimit,
  ),
  single('gauge', ['container_threads', 'Number of threads running inside the container'], ({ usage }) => usage.threads),
  {
    name: 'container_ulimits_soft',
    help: 'Soft ulimit values for the container root process. Unlimited if -1, except priority and nice',
    type: 'gauge',
    labels: ['ulimit'],
    points: ({ processes }) =>
      processes === undefined || processes.processes === 0
        ? []
        : [{ labels: { ulimit: 'max_open_files' }, value: processes.maxOpenFiles ?? -1 }],
  },
];

const PRESSURES: readonly (readonly [string, string, 'cpu' | 'memory' | 'io', keyof CgroupPressure])[] = [
  ...(['cpu', 'memory', 'io'] as const).flatMap((resource) => {
    const cause = resource === 'memory' ? resource : resource.toUpperCase();
    return [
      [
        ...([`container_pressure_${resource}_stalled_seconds_total`] as const),
        `Total time duration no tasks in the container could make progress due to ${cause} congestion.`,
        ...([resource, 'fullSeconds'] as const),
      ],
      [
        ...([`container_pressure_${resource}_waiting_seconds_total`] as const),
        `Total time duration tasks in the container have waited due to ${cause} congestion.`,
        ...([resource, 'someSeconds'] as const),
      ],
    ] as const;
  }),
];

const PRESSURE: readonly ContainerFamily[] = PRESSURES.map(([name, help, resource, figure]) =>
  single('counter', [name, help], ({ usage }) => usage.pressure?.[resource][figure]),
);

const SPEC: readonly ContainerFamily[] = [
  single('gauge', ['container_spec_cpu_period', 'CPU period of the container.'], ({ usage }) => usage.spec.cpuPeriodUs),
  single('gauge', ['container_spec_cpu_quota', 'CPU quota of the container.'], ({ usage }) => usage.spec.cpuQuotaUs || undefined),
  single('gauge', ['container_spec_cpu_shares', 'CPU share of the container.'], ({ usage }) => usage.spec.cpuShares),
  single('gauge', ['container_spec_memory_limit_bytes', 'Memory limit for the container.'], ({ usage }) => usage.spec.memoryLimitBytes),
  single(
    'gauge',
    ['container_spec_memory_swap_limit_bytes', 'Memory swap limit for the container.'],
    ({ usage }) => usage.spec.memorySwapLimitBytes,
  ),
  single(
    'gauge',
    ['container_spec_memory_reservation_limit_bytes', 'Memory reservation limit for the container.'],
    ({ usage }) => usage.spec.memoryReservationBytes,
  ),
];

/** The metrics that cAdvisor in upstream's kubelet exports for every cgroup. */
export const CONTAINER_FAMILIES: readonly ContainerFamily[] = [
  ...GENERAL,
  ...CPU,
  ...MEMORY,
  ...DISKS,
  ...NETWORK,
  ...PROCESSES,
  ...PRESSURE,
  ...SPEC,
];
