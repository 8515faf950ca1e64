import type { core } from '#api';
import { minOf } from '#base';
import { Quantity } from '#machinery';
import { type CpuSet, difference, formatCpuSet, intersection, parseCpuSet, union } from './cpu-set.ts';
import { AllocationError, type HintProvider } from './hint-provider.ts';
import type { MachineTopology } from './machine-topology.ts';
import type { StateFile } from './state-file.ts';
import { takeCpus, takeCpusAcrossNuma } from './take-cpus.ts';
import { maskOf, masksOf, type NumaMask, nodesOf, type TopologyHint } from './topology-hints.ts';

export type CpuManagerPolicy = 'none' | 'static';

/** As `cpuManagerPolicyOptions`. */
export interface CpuManagerOptions {
  readonly 'full-pcpus-only'?: boolean;
  readonly 'distribute-cpus-across-numa'?: boolean;
  readonly 'distribute-cpus-across-cores'?: boolean;
  readonly 'strict-cpu-reservation'?: boolean;
}

export interface CpuManagerConfig {
  readonly topology: MachineTopology;
  readonly options?: CpuManagerOptions;
  /** As `reservedSystemCPUs`. Empty: `reservedCount` CPUs. */
  readonly reservedCpus: CpuSet;
  /** The number of reserved CPUs. */
  readonly reservedCount: number;
}

interface CpuCheckpoint {
  readonly policyName: 'static';
  readonly defaultCpuSet: string;
  readonly entries: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Gives exclusive CPUs to containers of Guaranteed pods with integer requests; all others share the rest. */
export class CpuManager implements HintProvider {
  readonly name = 'cpu';
  readonly #assigned = new Map<string, Map<string, CpuSet>>();
  readonly #reserved: CpuSet;
  readonly #all: CpuSet;

  constructor(
    private readonly config: CpuManagerConfig,
    private readonly file: StateFile<CpuCheckpoint>,
  ) {
    this.#all = config.topology.cpus.map(({ id }) => id).sort((a, b) => a - b);
    this.#reserved =
      config.reservedCpus.length > 0 ? config.reservedCpus : (takeCpus(config.topology, this.#all, config.reservedCount) ?? []);
    if (this.#reserved.length === 0)
      throw new TypeError(
        'the static CPU manager policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero, or reservedSystemCPUs',
      );
    const strange = difference(this.#reserved, this.#all);
    if (strange.length > 0) throw new TypeError(`the machine has no processors ${formatCpuSet(strange)} to reserve`);
  }

  /** Restores the assignments of an earlier kubelet. Throws when the machine or its configuration has changed incompatibly. */
  async open(): Promise<void> {
    const saved = await this.file.read();
    if (saved === undefined) return;
    if (saved.policyName !== 'static') throw new Error(this.#mismatch(`policy ${saved.policyName}`));
    for (const [uid, containers] of Object.entries(saved.entries)) {
      this.#assigned.set(uid, new Map(Object.entries(containers).map(([name, text]) => [name, parseCpuSet(text)])));
    }
    const allocated = this.#exclusiveCpus();
    if (difference(allocated, this.#all).length > 0) throw new Error(this.#mismatch(`processors ${formatCpuSet(allocated)}`));
  }

  #mismatch(savedState: string): string {
    return `the state of the CPU manager in ${this.file.path} is of ${savedState}, which this machine and its configuration do not have: drain the node and remove the file`;
  }

  /** The shared pool. */
  get sharedCpus(): CpuSet {
    const base = this.config.options?.['strict-cpu-reservation'] ? difference(this.#all, this.#reserved) : this.#all;
    return difference(base, this.#exclusiveCpus());
  }

  /** CPUs that can be exclusive, assigned or not. */
  get allocatableCpus(): CpuSet {
    return difference(this.#all, this.#reserved);
  }

  hasExclusiveCpus(uid: string): boolean {
    return (this.#assigned.get(uid)?.size ?? 0) > 0;
  }

  cpusOf(uid: string, container: string): CpuSet | undefined {
    return this.#assigned.get(uid)?.get(container);
  }

  #exclusiveCpus(): CpuSet {
    return union([...this.#assigned.values()].flatMap((containers) => [...containers.values()]));
  }

  #allocatable(): CpuSet {
    return difference(difference(this.#all, this.#reserved), this.#exclusiveCpus());
  }

  /** Undefined: the container gets no exclusive CPUs. */
  #requestedCpus(pod: core.Pod, container: core.Container): number | undefined {
    if (pod.status?.qosClass !== 'Guaranteed') return undefined;
    const milli = Quantity.parse(container.resources?.requests?.cpu ?? container.resources?.limits?.cpu ?? '0').milliValue();
    return milli > 0 && milli % 1000 === 0 ? milli / 1000 : undefined;
  }

  hints(pod: core.Pod, containers: readonly core.Container[]): ReadonlyMap<string, readonly TopologyHint[] | undefined> {
    const amounts = containers.map((container) => this.#requestedCpus(pod, container) ?? 0);
    const amount = amounts.reduce((sum, value) => sum + value, 0);
    if (amount === 0) return new Map();
    const { topology } = this.config;
    const free = this.#allocatable();
    const cpusIn = (mask: NumaMask, of: CpuSet) => intersection(of, cpusOfNodes(topology, mask)).length;
    const masks = masksOf(topology.numaNodes.map(({ id }) => id));
    const able = masks.filter((mask) => cpusOfNodes(topology, mask).length >= amount);
    const least = minOf(able.map((mask) => nodesOf(mask).length));
    const hints = able
      .filter((mask) => cpusIn(mask, free) >= amount)
      .map((mask) => ({ nodes: mask, isPreferred: nodesOf(mask).length === least }));
    return new Map([['cpu', hints]]);
  }

  async allocate(pod: core.Pod, container: core.Container, hint: TopologyHint): Promise<void> {
    const amount = this.#requestedCpus(pod, container);
    const uid = pod.metadata.uid ?? '';
    if (amount === undefined || this.cpusOf(uid, container.name) !== undefined) return;
    this.#checkAlignment(amount);
    const cpus = this.#choose(amount, hint);
    const own = this.#assigned.get(uid) ?? new Map<string, CpuSet>();
    this.#assigned.set(uid, own.set(container.name, cpus));
    await this.#save();
  }

  #checkAlignment(amount: number): void {
    const { topology, options } = this.config;
    const threads = topology.cpus.length / new Set(topology.cpus.map(({ core: id }) => id)).size;
    if (options?.['full-pcpus-only'] !== true || amount % threads === 0) return;
    const text = `SMT Alignment Error: requested ${amount} cpus not multiple cpus per core = ${threads}`;
    throw new AllocationError(text, 'SMTAlignmentError');
  }

  /** From the hinted NUMA nodes first, then from elsewhere. */
  #choose(amount: number, { nodes }: TopologyHint): CpuSet {
    const free = this.#allocatable();
    const preferred = nodes === undefined ? free : intersection(free, cpusOfNodes(this.config.topology, nodes));
    const first = this.#take(preferred, Math.min(amount, preferred.length)) ?? [];
    const rest = this.#take(difference(free, first), amount - first.length);
    if (rest === undefined)
      throw new AllocationError(`not enough cpus available to satisfy request: requested=${amount}, available=${free.length}`);
    return union([first, rest]);
  }

  #take(from: CpuSet, amount: number): CpuSet | undefined {
    const { topology, options = {} } = this.config;
    const isSpread = options['distribute-cpus-across-cores'] === true;
    if (options['distribute-cpus-across-numa'] === true) return takeCpusAcrossNuma(topology, from, amount, { isSpread });
    return takeCpus(topology, from, amount, { isSpread });
  }

  async release(uid: string): Promise<void> {
    if (this.#assigned.delete(uid)) await this.#save();
  }

  get podUids(): readonly string[] {
    return [...this.#assigned.keys()];
  }

  async #save(): Promise<void> {
    const entries = Array.from(this.#assigned, ([uid, containers]) => [
      uid,
      Object.fromEntries(Array.from(containers, ([name, cpus]) => [name, formatCpuSet(cpus)])),
    ]);
    await this.file.write({ policyName: 'static', defaultCpuSet: formatCpuSet(this.sharedCpus), entries: Object.fromEntries(entries) });
  }
}

function cpusOfNodes(topology: MachineTopology, mask: NumaMask): CpuSet {
  return topology.cpus.filter(({ numaNode }) => (maskOf([numaNode]) & mask) !== 0).map(({ id }) => id);
}
