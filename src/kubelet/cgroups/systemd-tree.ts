import type { DbusVariant } from '../dbus/dbus-wire.ts';
import type { CgroupLimits } from './cgroup-limits.ts';
import { type CgroupFile, type CgroupMemory, type CgroupTree, PERIOD_US, sharesToWeight } from './cgroup-tree.ts';
import type { CgroupUsage } from './cgroup-usage.ts';
import type { SystemdUnits, UnitProperties } from './systemd-units.ts';

const UNLIMITED = 2n ** 64n - 1n;
/** systemd rounds CPU quotas up to this. */
const QUOTA_STEP_US = 10_000;

/**
 * Cgroups that are systemd slices. Limits that systemd does not know are lost when it next writes its own, for example when the runtime
 * starts a container in the slice.
 */
export class SystemdTree implements CgroupTree {
  readonly version: 1 | 2;

  constructor(
    private readonly inner: CgroupTree,
    private readonly units: Pick<SystemdUnits, 'start' | 'setProperties' | 'stop'>,
  ) {
    this.version = inner.version;
  }

  async create(path: string): Promise<void> {
    const name = unitOf(path);
    if (name !== undefined) await this.units.start(name, this.#sliceProperties(name));
    // Controllers that no unit uses, which systemd does not enable.
    await this.inner.create(path);
  }

  async limit(path: string, limits: CgroupLimits): Promise<void> {
    await this.#setProperties(path, { cpuQuotaUs: -1, memoryBytes: -1, ...limits });
    await this.inner.limit(path, limits);
  }

  async reserve(path: string, limits: CgroupLimits): Promise<void> {
    await this.#setProperties(path, limits);
    await this.inner.reserve(path, limits);
  }

  async remove(path: string): Promise<void> {
    const name = unitOf(path);
    if (name !== undefined) await this.units.stop(name);
    await this.inner.remove(path);
  }

  exists(path: string): boolean {
    return this.inner.exists(path);
  }

  countsSwap(path: string): boolean {
    return this.inner.countsSwap(path);
  }

  kill(path: string): Promise<void> {
    return this.inner.kill(path);
  }

  children(path: string): Promise<readonly string[]> {
    return this.inner.children(path);
  }

  memory(path: string): Promise<CgroupMemory> {
    return this.inner.memory(path);
  }

  processCount(path: string): Promise<number> {
    return this.inner.processCount(path);
  }

  usage(path: string): Promise<CgroupUsage> {
    return this.inner.usage(path);
  }

  enter(path: string, pid: number): Promise<void> {
    return this.inner.enter(path, pid);
  }

  processes(path: string): Promise<readonly number[]> {
    return this.inner.processes(path);
  }

  createdMs(path: string): Promise<number> {
    return this.inner.createdMs(path);
  }

  read(path: string, file: CgroupFile): Promise<string> {
    return this.inner.read(path, file);
  }

  async #setProperties(path: string, limits: CgroupLimits): Promise<void> {
    const name = unitOf(path);
    const properties = limitProperties(limits, this.version);
    if (name !== undefined && Object.keys(properties).length > 0) await this.units.setProperties(name, properties);
  }

  #sliceProperties(name: string): UnitProperties {
    const isOn: DbusVariant = { type: 'b', value: true };
    const parent = parentOf(name);
    return {
      Description: { type: 's', value: 'Kubernetes pods' },
      ...(parent !== undefined && { Wants: { type: 'as', value: [parent] } }),
      DefaultDependencies: { type: 'b', value: false },
      CPUAccounting: isOn,
      MemoryAccounting: isOn,
      TasksAccounting: isOn,
      [this.version === 2 ? 'IOAccounting' : 'BlockIOAccounting']: isOn,
    };
  }
}

/** Cgroups of other units or of none, such as an administrator's reserved ones, are not slices. */
function unitOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.endsWith('.slice') ? name : undefined;
}

/** `kubepods-burstable.slice` is in `kubepods.slice`. */
function parentOf(name: string): string | undefined {
  const end = name.lastIndexOf('-');
  return end < 0 ? undefined : `${name.slice(0, end)}.slice`;
}

function limitProperties({ cpuShares, cpuQuotaUs, memoryBytes, pids }: CgroupLimits, version: 1 | 2): UnitProperties {
  const number = (value: number | bigint): DbusVariant => ({ type: 't', value: BigInt(value) });
  const limit = (value: number) => number(value < 0 ? UNLIMITED : value);
  const isUnified = version === 2;
  return {
    ...(cpuShares !== undefined && (isUnified ? { CPUWeight: number(sharesToWeight(cpuShares)) } : { CPUShares: number(cpuShares) })),
    ...(cpuQuotaUs !== undefined && {
      CPUQuotaPeriodUSec: number(PERIOD_US),
      CPUQuotaPerSecUSec: cpuQuotaUs < 0 ? number(UNLIMITED) : number(quotaPerSecond(cpuQuotaUs)),
    }),
    ...(memoryBytes !== undefined && { [isUnified ? 'MemoryMax' : 'MemoryLimit']: limit(memoryBytes) }),
    ...(pids !== undefined && { TasksMax: limit(pids) }),
  };
}

function quotaPerSecond(quotaUs: number): number {
  return Math.ceil((quotaUs * 1e6) / PERIOD_US / QUOTA_STEP_US) * QUOTA_STEP_US;
}
