import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CgroupLimits } from './cgroup-limits.ts';
import { type CgroupUsage, machineUsedBytes, readLegacyUsage, readUnifiedUsage } from './cgroup-usage.ts';

const MOUNT = '/sys/fs/cgroup';
const CGROUP2_MAGIC = 0x63677270;
const V1_CONTROLLERS = [
  'cpu',
  'cpuacct',
  'cpuset',
  'memory',
  'pids',
  'hugetlb',
  'blkio',
  'devices',
  'freezer',
  'systemd',
  'net_cls',
  'perf_event',
];
const V2_CONTROLLERS = ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'];
const UNIFIED = 'unified';
export const PERIOD_US = 100_000;

/** The machine's cgroups, v1 or v2. Paths are relative to the mount point. */
export interface CgroupTree {
  readonly version: 1 | 2;
  create(path: string): Promise<void>;
  exists(path: string): boolean;
  /** Whether the kernel limits swap in this cgroup. */
  countsSwap(path: string): boolean;
  limit(path: string, limits: CgroupLimits): Promise<void>;
  /** Sets the limits that are present and leaves the others unchanged. */
  reserve(path: string, limits: CgroupLimits): Promise<void>;
  /** Kills the remaining processes. */
  kill(path: string): Promise<void>;
  remove(path: string): Promise<void>;
  children(path: string): Promise<readonly string[]>;
  /** The memory usage, including that of child cgroups. */
  memory(path: string): Promise<CgroupMemory>;
  processCount(path: string): Promise<number>;
  /** Everything that monitoring exports. Values that the kernel lacks are 0. */
  usage(path: string): Promise<CgroupUsage>;
  /** Moves a process into a cgroup that exists. */
  enter(path: string, pid: number): Promise<void>;
  /** The processes of this cgroup, without child cgroups. */
  processes(path: string): Promise<readonly number[]>;
  createdMs(path: string): Promise<number>;
  /** The content of a file that has different names in v1 and v2. */
  read(path: string, file: CgroupFile): Promise<string>;
}

export interface CgroupMemory {
  /** Usage without inactive file pages, which the kernel can reclaim at once. */
  readonly workingSetBytes: number;
  /** Undefined: unlimited. */
  readonly limitBytes: number | undefined;
}

export type CgroupFile = 'cpuShares' | 'cpuQuota' | 'memoryLimit';

export async function openCgroupTree(mount = MOUNT): Promise<CgroupTree> {
  const { type } = await statfs(mount);
  return type === CGROUP2_MAGIC ? new UnifiedTree(mount) : new LegacyTree(mount);
}

/** Moves a process into a cgroup, which is created. */
export async function moveToCgroup(cgroup: string, pid: number, mount = MOUNT): Promise<void> {
  const tree = await openCgroupTree(mount);
  const path = cgroup.replace(/^\/+/, '');
  await tree.create(path);
  await tree.enter(path, pid);
}

/** cgroup v1: a hierarchy for each controller. */
export class LegacyTree implements CgroupTree {
  readonly version = 1;
  readonly #controllers: readonly string[];

  constructor(private readonly mount: string) {
    this.#controllers = V1_CONTROLLERS.filter((name) => existsSync(join(mount, name)));
  }

  async create(path: string): Promise<void> {
    const createIn = async (controller: string) => {
      await mkdir(join(this.mount, controller, path), { recursive: true });
      if (controller === 'cpuset') await Promise.all(['cpuset.cpus', 'cpuset.mems'].map((file) => this.#inheritCpuset(path, file)));
    };
    await Promise.all(this.#controllers.map(createIn));
  }

  exists(path: string): boolean {
    return existsSync(join(this.mount, 'memory', path));
  }

  countsSwap(path: string): boolean {
    return existsSync(join(this.mount, 'memory', path, 'memory.memsw.limit_in_bytes'));
  }

  async limit(path: string, limits: CgroupLimits): Promise<void> {
    await this.reserve(path, { cpuQuotaUs: -1, memoryBytes: -1, ...limits });
  }

  async reserve(path: string, { cpuShares, cpuQuotaUs, memoryBytes, pids, hugePages = new Map() }: CgroupLimits): Promise<void> {
    const write = async (controller: string, file: string, value: number | undefined) => {
      if (value !== undefined) await this.#write(controller, join(path, file), String(value));
    };
    const writeQuota = async () => {
      if (cpuQuotaUs !== undefined && cpuQuotaUs > 0) await write('cpu', 'cpu.cfs_period_us', PERIOD_US);
      await write('cpu', 'cpu.cfs_quota_us', cpuQuotaUs);
    };
    await Promise.all([
      write('cpu', 'cpu.shares', cpuShares),
      writeQuota(),
      write('memory', 'memory.limit_in_bytes', memoryBytes),
      write('pids', 'pids.max', pids),
      ...[...hugePages].map(([size, bytes]) => write('hugetlb', `hugetlb.${size}.limit_in_bytes`, bytes)),
    ]);
  }

  async kill(path: string): Promise<void> {
    for (const controller of this.#controllers) await killAll(join(this.mount, controller, path));
  }

  async remove(path: string): Promise<void> {
    // In hybrid mode runc creates the cgroup in the unified hierarchy as well.
    for (const hierarchy of [...this.#controllers, UNIFIED]) await removeTree(join(this.mount, hierarchy, path));
  }

  children(path: string): Promise<readonly string[]> {
    return directoriesIn(join(this.mount, 'memory', path));
  }

  async memory(path: string): Promise<CgroupMemory> {
    const read = (file: string) => readFile(join(this.mount, 'memory', path, file), 'utf8');
    const [usage, stat, limit] = await Promise.all([read('memory.usage_in_bytes'), read('memory.stat'), read('memory.limit_in_bytes')]);
    const limitBytes = Number(limit);
    return {
      workingSetBytes: workingSet(Number(usage), statValue(stat, 'total_inactive_file')),
      limitBytes: limitBytes >= V1_UNLIMITED ? undefined : limitBytes,
    };
  }

  async processCount(path: string): Promise<number> {
    return Number(await readFile(join(this.mount, 'pids', path, 'pids.current'), 'utf8'));
  }

  usage(path: string): Promise<CgroupUsage> {
    return readLegacyUsage(this.mount, path);
  }

  async enter(path: string, pid: number): Promise<void> {
    for (const controller of this.#controllers) await writeFile(join(this.mount, controller, path, 'cgroup.procs'), String(pid));
  }

  processes(path: string): Promise<readonly number[]> {
    return processesIn(join(this.mount, 'memory', path));
  }

  async createdMs(path: string): Promise<number> {
    return (await stat(join(this.mount, 'memory', path))).mtimeMs;
  }

  async read(path: string, file: CgroupFile): Promise<string> {
    const names = { cpuShares: 'cpu/cpu.shares', cpuQuota: 'cpu/cpu.cfs_quota_us', memoryLimit: 'memory/memory.limit_in_bytes' };
    const [controller, name] = names[file].split('/') as [string, string];
    return (await readFile(join(this.mount, controller, path, name), 'utf8')).trim();
  }

  async #write(controller: string, path: string, value: string): Promise<void> {
    if (this.#controllers.includes(controller)) await writeFile(join(this.mount, controller, path), value);
  }

  /** A new v1 cpuset is empty until it is initialized. One that is not empty has parents that are not. */
  async #inheritCpuset(path: string, file: string): Promise<string> {
    const own = join(this.mount, 'cpuset', path, file);
    const present = (await readFile(own, 'utf8')).trim();
    const parent = dirname(path);
    if (present !== '' || parent === path) return present;
    const inherited = await this.#inheritCpuset(parent, file);
    await writeFile(own, inherited);
    return inherited;
  }
}

/** cgroup v2: one hierarchy. */
export class UnifiedTree implements CgroupTree {
  readonly version = 2;

  constructor(private readonly mount: string) {}

  async create(path: string): Promise<void> {
    const parts = path.split('/');
    for (let depth = 0; depth < parts.length; depth++) {
      const parent = join(this.mount, parts.slice(0, depth).join('/'));
      const available = (await readFile(join(parent, 'cgroup.controllers'), 'utf8')).split(/\s/);
      const controllers = V2_CONTROLLERS.filter((name) => available.includes(name)).map((name) => `+${name}`);
      if (controllers.length > 0) await writeFile(join(parent, 'cgroup.subtree_control'), controllers.join(' '));
      await mkdir(join(this.mount, parts.slice(0, depth + 1).join('/')), { recursive: true });
    }
  }

  exists(path: string): boolean {
    return existsSync(join(this.mount, path));
  }

  countsSwap(path: string): boolean {
    return existsSync(join(this.mount, path, 'memory.swap.max'));
  }

  limit(path: string, limits: CgroupLimits): Promise<void> {
    return this.reserve(path, { cpuQuotaUs: -1, memoryBytes: -1, ...limits });
  }

  async reserve(path: string, { cpuShares, cpuQuotaUs, memoryBytes, pids, hugePages = new Map() }: CgroupLimits): Promise<void> {
    const write = (file: string, value: string) => writeFile(join(this.mount, path, file), value);
    if (cpuShares !== undefined) await write('cpu.weight', String(sharesToWeight(cpuShares)));
    if (cpuQuotaUs !== undefined) await write('cpu.max', `${cpuQuotaUs < 0 ? 'max' : cpuQuotaUs} ${PERIOD_US}`);
    if (memoryBytes !== undefined) await write('memory.max', memoryBytes < 0 ? 'max' : String(memoryBytes));
    if (pids !== undefined) await write('pids.max', String(pids));
    for (const [size, bytes] of hugePages) await this.#limitHugePages(path, size, bytes);
  }

  /** Kernels without the controller have no such files; older ones count no reservations. */
  async #limitHugePages(path: string, size: string, bytes: number): Promise<void> {
    const files = [`hugetlb.${size}.max`, `hugetlb.${size}.rsvd.max`].map((file) => join(this.mount, path, file));
    for (const file of files) if (existsSync(file)) await writeFile(file, String(bytes));
  }

  kill(path: string): Promise<void> {
    return killAll(join(this.mount, path));
  }

  remove(path: string): Promise<void> {
    return removeTree(join(this.mount, path));
  }

  children(path: string): Promise<readonly string[]> {
    return directoriesIn(join(this.mount, path));
  }

  async memory(path: string): Promise<CgroupMemory> {
    const read = (file: string) => readFile(join(this.mount, path, file), 'utf8');
    const stat = await read('memory.stat');
    const usage = path === '' ? machineUsedBytes(await readFile('/proc/meminfo', 'utf8')) : Number(await read('memory.current'));
    const limit = path === '' ? 'max' : (await read('memory.max')).trim();
    return {
      workingSetBytes: workingSet(usage, statValue(stat, 'inactive_file')),
      limitBytes: limit === 'max' ? undefined : Number(limit),
    };
  }

  async processCount(path: string): Promise<number> {
    return Number(await readFile(join(this.mount, path, 'pids.current'), 'utf8'));
  }

  usage(path: string): Promise<CgroupUsage> {
    return readUnifiedUsage(this.mount, path);
  }

  async enter(path: string, pid: number): Promise<void> {
    await writeFile(join(this.mount, path, 'cgroup.procs'), String(pid));
  }

  processes(path: string): Promise<readonly number[]> {
    return processesIn(join(this.mount, path));
  }

  async createdMs(path: string): Promise<number> {
    return (await stat(join(this.mount, path))).mtimeMs;
  }

  async read(path: string, file: CgroupFile): Promise<string> {
    const names = { cpuShares: 'cpu.weight', cpuQuota: 'cpu.max', memoryLimit: 'memory.max' };
    return (await readFile(join(this.mount, path, names[file]), 'utf8')).trim();
  }
}

/** The v1 value for "no limit": the largest multiple of the page size. */
const V1_UNLIMITED = 2 ** 62;

export function workingSet(usageBytes: number, inactiveFileBytes: number): number {
  return Math.max(0, usageBytes - inactiveFileBytes);
}

/** A value from lines such as `inactive_file 4096`; 0 when absent. */
export function statValue(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

/** runc's conversion of v1 shares to v2 weights. */
export function sharesToWeight(shares: number): number {
  return 1 + Math.floor(((shares - 2) * 9999) / 262_142);
}

async function directoriesIn(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function processesIn(path: string): Promise<readonly number[]> {
  const text = await readFile(join(path, 'cgroup.procs'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]));
}

async function killAll(path: string): Promise<void> {
  for (const pid of await processesIn(path)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  for (const name of await directoriesIn(path)) await killAll(join(path, name));
}

async function removeTree(path: string): Promise<void> {
  for (const name of await directoriesIn(path)) await removeTree(join(path, name));
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
