import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CpuSet, parseCpuSet } from './cpu-set.ts';

export interface LogicalCpu {
  readonly id: number;
  /** Unique on the machine. */
  readonly core: number;
  readonly socket: number;
  readonly numaNode: number;
}

export interface NumaNode {
  readonly id: number;
  readonly memoryBytes: number;
}

export interface MachineTopology {
  readonly cpus: readonly LogicalCpu[];
  readonly numaNodes: readonly NumaNode[];
}

/** Reads /sys. A machine without NUMA has one node. */
export async function readMachineTopology(sys = '/sys'): Promise<MachineTopology> {
  const online = parseCpuSet(await readFile(join(sys, 'devices/system/cpu/online'), 'utf8'));
  const numaNodes = await readNumaNodes(sys);
  const nodeOf = new Map(numaNodes.flatMap(({ id, cpus }) => cpus.map((cpu) => [cpu, id] as const)));
  const cpus = await Promise.all(online.map((id) => readCpu(sys, id, nodeOf.get(id) ?? 0)));
  return { cpus, numaNodes: numaNodes.map(({ id, memoryBytes }) => ({ id, memoryBytes })) };
}

async function readCpu(sys: string, id: number, numaNode: number): Promise<LogicalCpu> {
  const directory = join(sys, `devices/system/cpu/cpu${id}/topology`);
  const read = (name: string) => readFile(join(directory, name), 'utf8').catch(() => '');
  const [socket, siblings] = await Promise.all([read('physical_package_id'), read('thread_siblings_list')]);
  // Core ids repeat on each socket; the first thread identifies a core uniquely.
  const core = siblings.trim() === '' ? id : (parseCpuSet(siblings)[0] ?? id);
  return { id, core, socket: Math.max(0, Number(socket)), numaNode };
}

async function readNumaNodes(sys: string): Promise<readonly (NumaNode & { readonly cpus: CpuSet })[]> {
  const directory = join(sys, 'devices/system/node');
  const names = (await readdir(directory).catch(() => [])).filter((name) => /^node\d+$/.test(name));
  const nodes = await Promise.all(
    names.map(async (name) => {
      const [cpus, memory] = await Promise.all(['cpulist', 'meminfo'].map((file) => readFile(join(directory, name, file), 'utf8')));
      const kibibytes = Number(/MemTotal:\s{1,20}(\d{1,15})/.exec(memory ?? '')?.[1] ?? 0);
      return { id: Number(name.slice('node'.length)), cpus: parseCpuSet(cpus ?? ''), memoryBytes: kibibytes * 1024 };
    }),
  );
  if (nodes.length === 0) return [{ id: 0, cpus: [], memoryBytes: 0 }];
  return nodes.sort((a, b) => a.id - b.id);
}
