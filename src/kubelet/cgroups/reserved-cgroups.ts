import type { EventRecorder } from '#client';
import { Quantity } from '#machinery';
import { nodeReference } from '../node/node-reference.ts';
import { milliCpuToShares } from '../pods/config/container-resources.ts';
import type { CgroupTree } from './cgroup-tree.ts';

/** As in KubeletConfiguration. */
export interface ReservedCgroupsConfig {
  readonly enforceNodeAllocatable?: readonly string[];
  readonly systemReserved?: Readonly<Record<string, string>>;
  readonly systemReservedCgroup?: string;
  readonly kubeReserved?: Readonly<Record<string, string>>;
  readonly kubeReservedCgroup?: string;
}

interface ReservedCgroup {
  /** `System` or `Kube`, the prefix of upstream's messages. */
  readonly title: string;
  readonly cgroup: string;
  readonly amounts: Readonly<Record<string, string>>;
  /** Only compressible resources: the CPU weight. */
  readonly isCompressibleOnly: boolean;
}

export interface ReservedCgroupsDeps {
  readonly tree: CgroupTree;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
}

/** Enforces system-reserved and kube-reserved on their cgroups. These belong to the administrator: a missing one is an error. */
export async function enforceReservedCgroups(config: ReservedCgroupsConfig, deps: ReservedCgroupsDeps): Promise<void> {
  for (const reserved of reservedCgroups(config)) await enforce(reserved, deps);
}

function reservedCgroups(config: ReservedCgroupsConfig): readonly ReservedCgroup[] {
  const enforced = config.enforceNodeAllocatable ?? [];
  const { systemReserved = {}, systemReservedCgroup = '', kubeReserved = {}, kubeReservedCgroup = '' } = config;
  const all = [
    { title: 'System', key: 'system-reserved', cgroup: systemReservedCgroup, amounts: systemReserved },
    { title: 'Kube', key: 'kube-reserved', cgroup: kubeReservedCgroup, amounts: kubeReserved },
  ];
  return all
    .filter(({ key }) => enforced.includes(key) || enforced.includes(`${key}-compressible`))
    .map(({ key, ...reservation }) => ({ ...reservation, isCompressibleOnly: enforced.includes(`${key}-compressible`) }));
}

async function enforce(reserved: ReservedCgroup, { tree, recorder, nodeName }: ReservedCgroupsDeps): Promise<void> {
  const { title, cgroup } = reserved;
  const path = cgroup
    .split('/')
    .filter((part) => part !== '')
    .join('/');
  try {
    if (!tree.exists(path)) throw new Error(`"${cgroup}" cgroup does not exist`);
    await tree.reserve(path, limitsOf(reserved));
  } catch (error) {
    const message = `Failed to enforce ${title} Reserved Cgroup Limits on "${cgroup}": ${(error as Error).message}`;
    recorder.warning(nodeReference(nodeName), 'FailedNodeAllocatableEnforcement', message);
    throw new Error(message, { cause: error });
  }
  const message = `Updated limits on ${title.toLowerCase()} reserved cgroup ${cgroup}`;
  recorder.normal(nodeReference(nodeName), 'NodeAllocatableEnforced', message);
}

function limitsOf({ amounts, isCompressibleOnly }: ReservedCgroup) {
  const { cpu, memory, pid } = amounts;
  const shares = cpu === undefined ? {} : { cpuShares: milliCpuToShares(Quantity.parse(cpu).milliValue()) };
  if (isCompressibleOnly) return shares;
  return {
    ...shares,
    ...(memory !== undefined && { memoryBytes: Quantity.parse(memory).value() }),
    ...(pid !== undefined && { pids: Quantity.parse(pid).value() }),
  };
}
