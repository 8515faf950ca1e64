import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface CgroupCpuUsage {
  readonly usageNs: number;
  readonly userNs: number;
  readonly systemNs: number;
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttledNs: number;
}

export interface CgroupMemoryUsage {
  readonly usageBytes: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly cacheBytes: number;
  readonly mappedFileBytes: number;
  readonly swapBytes: number;
  readonly kernelBytes: number;
  readonly activeFileBytes: number;
  readonly inactiveFileBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  /** 0 where the kernel does not track it. */
  readonly maxUsageBytes: number;
  readonly limitHits: number;
  readonly oomKills: number;
}

export interface CgroupIoUsage {
  /** Such as `8:0`. */
  readonly device: string;
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly reads: number;
  readonly writes: number;
}

/** PSI: seconds that some or all processes were stalled. */
export interface CgroupPressure {
  readonly someSeconds: number;
  readonly fullSeconds: number;
}

/** The limits of a cgroup; 0: unlimited. */
export interface CgroupSpec {
  readonly cpuShares: number;
  readonly cpuPeriodUs: number;
  readonly cpuQuotaUs: number;
  readonly memoryLimitBytes: number;
  readonly memorySwapLimitBytes: number;
  readonly memoryReservationBytes: number;
  readonly pidsLimit: number;
}

/** The usage of a cgroup, including child cgroups. */
export interface CgroupUsage {
  readonly cpu: CgroupCpuUsage;
  readonly memory: CgroupMemoryUsage;
  readonly io: readonly CgroupIoUsage[];
  readonly threads: number;
  readonly spec: CgroupSpec;
  /** Absent: the kernel has no PSI. */
  readonly pressure?: Readonly<Record<'cpu' | 'memory' | 'io', CgroupPressure>> | undefined;
}

const USER_HZ_NS = 1e7;
/** Larger limits mean unlimited: the kernel rounds. */
const MAX_LIMIT_BYTES = 2 ** 62;

/** Empty where the file does not exist: controllers may be absent, and the root has no limits. */
async function textOf(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch {
    return '';
  }
}

async function readTexts<K extends string>(directoryOf: (key: K) => string, keys: readonly K[]): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(keys.map(async (key) => [key, await textOf(join(directoryOf(key), key))] as const)));
}

/** Lines of a name and a number. */
export function parseStat(text: string): (name: string) => number {
  const values = new Map(text.split('\n').map((line) => line.split(' ') as [string, string]));
  return (name) => Number(values.get(name) ?? 0);
}

function limitOf(text: string | undefined): number {
  const value = Number(text ?? 0);
  return Number.isFinite(value) && value < MAX_LIMIT_BYTES ? Math.max(0, value) : 0;
}

const V1_FILES = [
  'cpuacct.usage',
  'cpuacct.stat',
  'cpu.stat',
  'cpu.shares',
  'cpu.cfs_period_us',
  'cpu.cfs_quota_us',
  'memory.stat',
  'memory.usage_in_bytes',
  'memory.max_usage_in_bytes',
  'memory.failcnt',
  'memory.kmem.usage_in_bytes',
  'memory.limit_in_bytes',
  'memory.memsw.limit_in_bytes',
  'memory.soft_limit_in_bytes',
  'memory.oom_control',
  'pids.current',
  'pids.max',
  'blkio.throttle.io_service_bytes_recursive',
  'blkio.throttle.io_serviced_recursive',
] as const;

export async function readLegacyUsage(mount: string, path: string): Promise<CgroupUsage> {
  const texts = await readTexts((file) => join(mount, file.slice(0, file.indexOf('.')), path), V1_FILES);
  const number = (file: (typeof V1_FILES)[number]) => Number(texts.get(file));
  const [accounting, throttling, memory] = ['cpuacct.stat', 'cpu.stat', 'memory.stat'].map((file) => parseStat(texts.get(file) ?? ''));
  const usageBytes = number('memory.usage_in_bytes');
  return {
    cpu: {
      usageNs: number('cpuacct.usage'),
      userNs: accounting!('user') * USER_HZ_NS,
      systemNs: accounting!('system') * USER_HZ_NS,
      periods: throttling!('nr_periods'),
      throttledPeriods: throttling!('nr_throttled'),
      throttledNs: throttling!('throttled_time'),
    },
    memory: {
      usageBytes,
      workingSetBytes: Math.max(0, usageBytes - memory!('total_inactive_file')),
      rssBytes: memory!('total_rss'),
      cacheBytes: memory!('total_cache'),
      mappedFileBytes: memory!('total_mapped_file'),
      swapBytes: memory!('total_swap'),
      kernelBytes: number('memory.kmem.usage_in_bytes'),
      activeFileBytes: memory!('total_active_file'),
      inactiveFileBytes: memory!('total_inactive_file'),
      pageFaults: memory!('total_pgfault'),
      majorPageFaults: memory!('total_pgmajfault'),
      maxUsageBytes: number('memory.max_usage_in_bytes'),
      limitHits: number('memory.failcnt'),
      oomKills: parseStat(texts.get('memory.oom_control') ?? '')('oom_kill'),
    },
    io: legacyIo(texts.get('blkio.throttle.io_service_bytes_recursive') ?? '', texts.get('blkio.throttle.io_serviced_recursive') ?? ''),
    threads: number('pids.current'),
    spec: {
      cpuShares: number('cpu.shares'),
      cpuPeriodUs: number('cpu.cfs_period_us'),
      cpuQuotaUs: Math.max(0, number('cpu.cfs_quota_us')),
      memoryLimitBytes: limitOf(texts.get('memory.limit_in_bytes')),
      memorySwapLimitBytes: limitOf(texts.get('memory.memsw.limit_in_bytes')),
      memoryReservationBytes: limitOf(texts.get('memory.soft_limit_in_bytes')),
      pidsLimit: limitOf(texts.get('pids.max')),
    },
  };
}

/** Lines such as `8:0 Read 4096`. */
function legacyIo(bytes: string, operations: string): readonly CgroupIoUsage[] {
  const byOperation = (text: string) =>
    new Map(
      text.split('\n').map((line) => {
        const [device, operation, value] = line.split(' ');
        return [`${device} ${operation}`, Number(value)];
      }),
    );
  const [size, count] = [byOperation(bytes), byOperation(operations)];
  const devices = new Set(bytes.split('\n').flatMap((line) => /^\d+:\d+(?= )/.exec(line) ?? []));
  return Array.from(devices, (device) => ({
    device,
    readBytes: size.get(`${device} Read`) ?? 0,
    writeBytes: size.get(`${device} Write`) ?? 0,
    reads: count.get(`${device} Read`) ?? 0,
    writes: count.get(`${device} Write`) ?? 0,
  }));
}

const V2_FILES = [
  'cpu.stat',
  'cpu.weight',
  'cpu.max',
  'memory.stat',
  'memory.current',
  'memory.peak',
  'memory.events',
  'memory.swap.current',
  'memory.max',
  'memory.swap.max',
  'memory.low',
  'pids.current',
  'pids.max',
  'io.stat',
  'cpu.pressure',
  'memory.pressure',
  'io.pressure',
] as const;

export async function readUnifiedUsage(mount: string, path: string): Promise<CgroupUsage> {
  const texts = await readTexts(() => join(mount, path), V2_FILES);
  const text = (file: (typeof V2_FILES)[number]) => texts.get(file) ?? '';
  const [cpu, memory, events] = (['cpu.stat', 'memory.stat', 'memory.events'] as const).map((file) => parseStat(text(file)));
  // The root cgroup has no usage file.
  const usageBytes = path === '' ? machineUsedBytes(await textOf('/proc/meminfo')) : Number(text('memory.current'));
  const [quota = 'max', period = '100000'] = text('cpu.max') === '' ? [] : text('cpu.max').split(' ');
  return {
    cpu: {
      usageNs: cpu!('usage_usec') * 1000,
      userNs: cpu!('user_usec') * 1000,
      systemNs: cpu!('system_usec') * 1000,
      periods: cpu!('nr_periods'),
      throttledPeriods: cpu!('nr_throttled'),
      throttledNs: cpu!('throttled_usec') * 1000,
    },
    memory: {
      usageBytes,
      workingSetBytes: Math.max(0, usageBytes - memory!('inactive_file')),
      rssBytes: memory!('anon'),
      cacheBytes: memory!('file'),
      mappedFileBytes: memory!('file_mapped'),
      swapBytes: Number(text('memory.swap.current')),
      kernelBytes: memory!('kernel'),
      activeFileBytes: memory!('active_file'),
      inactiveFileBytes: memory!('inactive_file'),
      pageFaults: memory!('pgfault'),
      majorPageFaults: memory!('pgmajfault'),
      maxUsageBytes: Number(text('memory.peak')),
      limitHits: events!('max'),
      oomKills: events!('oom_kill'),
    },
    io: unifiedIo(text('io.stat')),
    threads: Number(text('pids.current')),
    spec: {
      cpuShares: weightToShares(Number(text('cpu.weight'))),
      cpuPeriodUs: Number(period),
      cpuQuotaUs: limitOf(quota),
      memoryLimitBytes: limitOf(text('memory.max')),
      memorySwapLimitBytes: limitOf(text('memory.swap.max')),
      memoryReservationBytes: limitOf(text('memory.low')),
      pidsLimit: limitOf(text('pids.max')),
    },
    ...(text('cpu.pressure') !== '' && {
      pressure: { cpu: pressure(text('cpu.pressure')), memory: pressure(text('memory.pressure')), io: pressure(text('io.pressure')) },
    }),
  };
}

/** The inverse of runc's conversion; 0 stays 0. */
function weightToShares(weight: number): number {
  return weight === 0 ? 0 : 2 + Math.floor(((weight - 1) * 262_142) / 9999);
}

/** Lines such as `8:0 rbytes=1 wbytes=2 rios=3 wios=4`. */
function unifiedIo(text: string): readonly CgroupIoUsage[] {
  return text.split('\n').flatMap((line) => {
    const [device = '', ...pairs] = line.split(' ');
    const values = new Map(pairs.map((pair) => pair.split('=') as [string, string]));
    const value = (name: string) => Number(values.get(name) ?? 0);
    if (!values.has('rbytes')) return [];
    return [{ device, readBytes: value('rbytes'), writeBytes: value('wbytes'), reads: value('rios'), writes: value('wios') }];
  });
}

/** Lines such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`, in microseconds. */
function pressure(text: string): CgroupPressure {
  const total = (kind: string) => {
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${kind} `)) ?? '';
    return Number(line.slice(line.lastIndexOf('=') + 1)) / 1e6;
  };
  return { someSeconds: total('some'), fullSeconds: total('full') };
}

/** Used memory of the machine, from /proc/meminfo. */
export function machineUsedBytes(meminfo: string): number {
  const kibibytes = (name: string) => {
    const line = meminfo.split('\n').find((candidate) => candidate.startsWith(`${name}:`)) ?? '';
    return Number.parseInt(line.slice(name.length + 1) || '0', 10);
  };
  return (kibibytes('MemTotal') - kibibytes('MemFree')) * 1024;
}
