import { type CpuSet, union } from './cpu-set.ts';
import type { LogicalCpu, MachineTopology } from './machine-topology.ts';

export interface TakeCpusOptions {
  /** `distribute-cpus-across-cores`: one thread of each core before a second one of any. */
  readonly isSpread?: boolean;
}

type Level = 'core' | 'socket' | 'numaNode';

/**
 * Picks CPUs with the best locality: whole NUMA nodes and sockets, then whole cores, then single threads, from the fullest
 * parts first. Undefined when there are not enough. Pure.
 */
export function takeCpus(topology: MachineTopology, available: CpuSet, amount: number, options: TakeCpusOptions = {}): CpuSet | undefined {
  if (amount > available.length) return undefined;
  const state = new CpuPicker(topology, available, amount);
  const sockets = new Set(topology.cpus.map(({ socket }) => socket)).size;
  const isNumaWithinSocket = sockets < topology.numaNodes.length;
  for (const level of isNumaWithinSocket ? (['socket', 'numaNode'] as const) : (['numaNode', 'socket'] as const)) state.takeWhole(level);
  if (options.isSpread !== true) state.takeWhole('core');
  state.takeSingle(options.isSpread === true);
  return state.chosen;
}

class CpuPicker {
  chosen: CpuSet = [];
  #left: readonly LogicalCpu[];

  constructor(
    private readonly topology: MachineTopology,
    available: CpuSet,
    private readonly amount: number,
  ) {
    const free = new Set(available);
    this.#left = topology.cpus.filter(({ id }) => free.has(id));
  }

  get #needed(): number {
    return this.amount - this.chosen.length;
  }

  #take(cpus: CpuSet): void {
    this.chosen = union([this.chosen, cpus]);
    const chosen = new Set(cpus);
    this.#left = this.#left.filter(({ id }) => !chosen.has(id));
  }

  /** Takes completely free parts, as long as all of their CPUs are needed. */
  takeWhole(level: Level): void {
    for (const id of this.#fewestFirst(level)) {
      const group = this.topology.cpus.filter((cpu) => cpu[level] === id);
      const free = this.#left.filter((cpu) => cpu[level] === id);
      if (free.length === group.length && group.length <= this.#needed) this.#take(free.map((cpu) => cpu.id));
    }
  }

  takeSingle(isSpread: boolean): void {
    const cpus = isSpread
      ? this.#acrossCores()
      : this.#fewestFirst('core').flatMap((core) => this.#left.filter((cpu) => cpu.core === core));
    this.#take(cpus.slice(0, this.#needed).map(({ id }) => id));
  }

  /** The first free thread of each core, then the second of each. */
  #acrossCores(): readonly LogicalCpu[] {
    const rank = new Map<number, number>();
    const seen = new Map<number, number>();
    for (const { id, core } of this.#left) {
      rank.set(id, seen.get(core) ?? 0);
      seen.set(core, (seen.get(core) ?? 0) + 1);
    }
    return this.#left.toSorted((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0) || a.numaNode - b.numaNode || a.id - b.id);
  }

  /** Fullest parts first, so that large parts stay free; cores by socket and NUMA node. */
  #fewestFirst(level: Level): readonly number[] {
    const free = (cpu: LogicalCpu, of: Level) => this.#left.filter((other) => other[of] === cpu[of]).length;
    const representatives = [...new Map(this.#left.map((cpu) => [cpu[level], cpu])).values()];
    const order: readonly Level[] = level === 'core' ? ['numaNode', 'socket', 'core'] : [level];
    const keys = new Map(representatives.map((cpu) => [cpu, order.flatMap((of) => [free(cpu, of), cpu[of]])]));
    return representatives.toSorted((a, b) => compareKeys(keys.get(a) ?? [], keys.get(b) ?? [])).map((cpu) => cpu[level]);
  }
}

function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    if (value !== other) return value - other;
  }
  return 0;
}

/** `distribute-cpus-across-numa`: the same number from each of as few nodes as possible; falls back to packing if that is not even. Pure. */
export function takeCpusAcrossNuma(
  topology: MachineTopology,
  available: CpuSet,
  amount: number,
  options: TakeCpusOptions & { readonly groupSize?: number } = {},
): CpuSet | undefined {
  const { groupSize = 1 } = options;
  const free = new Map(
    topology.numaNodes.map(({ id }) => {
      const own = new Set(topology.cpus.filter(({ numaNode }) => numaNode === id).map((cpu) => cpu.id));
      return [id, available.filter((cpu) => own.has(cpu))] as const;
    }),
  );
  for (let nodes = 1; nodes <= free.size; nodes++) {
    const share = amount / nodes;
    if (share % groupSize !== 0) continue;
    const able = [...free.values()].filter((cpus) => cpus.length >= share).slice(0, nodes);
    if (able.length < nodes) continue;
    const parts = able.map((cpus) => takeCpus(topology, cpus, share, options));
    if (parts.every((part) => part !== undefined)) return union(parts as CpuSet[]);
  }
  return takeCpus(topology, available, amount, options);
}
