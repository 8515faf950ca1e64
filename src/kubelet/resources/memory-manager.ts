import type { core } from '#api';
import { minOf } from '#base';
import { Quantity } from '#machinery';
import { AllocationError, type HintProvider } from './hint-provider.ts';
import type { NumaNode } from './machine-topology.ts';
import type { StateFile } from './state-file.ts';
import { count, masksOf, type NumaMask, nodesOf, type TopologyHint } from './topology-hints.ts';

export type MemoryManagerPolicy = 'None' | 'Static';

/** As `reservedMemory`. */
export interface MemoryReservation {
  readonly numaNode: number;
  readonly limits: Readonly<Record<string, string>>;
}

export interface MemoryManagerConfig {
  readonly numaNodes: readonly NumaNode[];
  readonly reservedMemory: readonly MemoryReservation[];
}

/** Memory allocated to a container. */
export interface Block {
  readonly numaAffinity: readonly number[];
  readonly size: number;
}

interface MemoryCheckpoint {
  readonly policyName: 'Static';
  readonly entries: Readonly<Record<string, Readonly<Record<string, Block>>>>;
}

/** Reserves memory of certain NUMA nodes for containers of Guaranteed pods. */
export class MemoryManager implements HintProvider {
  readonly name = 'memory';
  readonly #blocks = new Map<string, Map<string, Block>>();
  readonly #capacity: ReadonlyMap<number, number>;

  constructor(
    { numaNodes, reservedMemory }: MemoryManagerConfig,
    private readonly file: StateFile<MemoryCheckpoint>,
  ) {
    if (reservedMemory.length === 0) throw new TypeError('the Static memory manager policy requires reservedMemory');
    const reserved = new Map(reservedMemory.map(({ numaNode, limits }) => [numaNode, Quantity.parse(limits.memory ?? '0').value()]));
    for (const id of reserved.keys())
      if (!numaNodes.some((node) => node.id === id))
        throw new TypeError(`the reserved memory is of NUMA node ${id}, which the machine does not have`);
    this.#capacity = new Map(numaNodes.map(({ id, memoryBytes }) => [id, Math.max(0, memoryBytes - (reserved.get(id) ?? 0))]));
  }

  /** Restores the allocations of an earlier kubelet. */
  async open(): Promise<void> {
    const saved = await this.file.read();
    for (const [uid, blocks] of Object.entries(saved?.entries ?? {})) this.#blocks.set(uid, new Map(Object.entries(blocks)));
  }

  nodesOf(uid: string, container: string): readonly number[] | undefined {
    return this.blockOf(uid, container)?.numaAffinity;
  }

  blockOf(uid: string, container: string): Block | undefined {
    return this.#blocks.get(uid)?.get(container);
  }

  /** Allocatable memory by NUMA node. */
  get capacity(): ReadonlyMap<number, number> {
    return this.#capacity;
  }

  #requestedBytes(pod: core.Pod, containers: readonly core.Container[]): number {
    if (pod.status?.qosClass !== 'Guaranteed') return 0;
    return containers.reduce((sum, { resources }) => sum + Quantity.parse(resources?.limits?.memory ?? '0').value(), 0);
  }

  hints(pod: core.Pod, containers: readonly core.Container[]): ReadonlyMap<string, readonly TopologyHint[] | undefined> {
    const requests = this.#requestedBytes(pod, containers);
    if (requests === 0) return new Map();
    const able = this.#masks().filter((mask) => this.#sum(mask, this.#capacity) >= requests);
    const least = minOf(able.map(count));
    const hints = able
      .filter((mask) => this.#isUsable(mask) && this.#free(mask) >= requests)
      .map((mask) => ({ nodes: mask, isPreferred: count(mask) === least }));
    return new Map([['memory', hints]]);
  }

  async allocate(pod: core.Pod, container: core.Container, hint: TopologyHint): Promise<void> {
    const size = this.#requestedBytes(pod, [container]);
    const uid = pod.metadata.uid ?? '';
    if (size === 0 || this.nodesOf(uid, container.name) !== undefined) return;
    const own = this.#blocks.get(uid) ?? new Map<string, Block>();
    this.#blocks.set(uid, own.set(container.name, { numaAffinity: nodesOf(this.#choose(size, hint.nodes)), size }));
    await this.#save();
  }

  /** The hint if it has enough memory; else the smallest group of nodes that has, containing the hint if possible. */
  #choose(size: number, hint: NumaMask | undefined): NumaMask {
    const fits = (mask: NumaMask) => this.#isUsable(mask) && this.#free(mask) >= size;
    if (hint !== undefined && fits(hint)) return hint;
    const able = this.#masks().filter(fits);
    const mask = able.find((candidate) => hint !== undefined && (candidate & hint) === hint) ?? able[0];
    if (mask === undefined) throw new AllocationError('[memorymanager] failed to find the default preferred hint');
    return mask;
  }

  async release(uid: string): Promise<void> {
    if (this.#blocks.delete(uid)) await this.#save();
  }

  get podUids(): readonly string[] {
    return [...this.#blocks.keys()];
  }

  #masks(): readonly NumaMask[] {
    return masksOf([...this.#capacity.keys()]);
  }

  #allocatedBlocks(): readonly Block[] {
    return [...this.#blocks.values()].flatMap((blocks) => [...blocks.values()]);
  }

  /** A node is part of one group at a time: the shares of a group's nodes are not tracked. */
  #isUsable(mask: NumaMask): boolean {
    return this.#allocatedBlocks().every(({ numaAffinity }) => {
      const other = numaAffinity.reduce((all, node) => all | (1 << node), 0);
      return other === mask || (other & mask) === 0 || (count(other) === 1 && count(mask) === 1);
    });
  }

  #free(mask: NumaMask): number {
    const used = this.#allocatedBlocks().filter(({ numaAffinity }) => numaAffinity.some((node) => (mask >> node) & 1));
    return this.#sum(mask, this.#capacity) - used.reduce((sum, { size }) => sum + size, 0);
  }

  #sum(mask: NumaMask, amounts: ReadonlyMap<number, number>): number {
    return nodesOf(mask).reduce((sum, node) => sum + (amounts.get(node) ?? 0), 0);
  }

  async #save(): Promise<void> {
    const entries = Object.fromEntries(Array.from(this.#blocks, ([uid, blocks]) => [uid, Object.fromEntries(blocks)]));
    await this.file.write({ policyName: 'Static', entries });
  }
}
