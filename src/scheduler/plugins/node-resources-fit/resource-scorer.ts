import { CPU_SCORED, CPU_USED, MEMORY_SCORED, MEMORY_USED, type NodeInfo, STORAGE_USED } from '../../framework/node-info.ts';
import type { PodInfo } from '../../framework/pod-info.ts';

export interface WeightedResource {
  readonly name: string;
  readonly weight: number;
}

/** The utilisation of a node per resource. Reused: read it before the next node is measured. */
export interface Fullness {
  readonly count: number;
  /** The allocatable amount; 0 if the resource does not count on this node. */
  readonly allocatable: Float64Array;
  readonly used: Float64Array;
  /** `used` and the pod's own. */
  readonly requested: Float64Array;
  readonly weights: Float64Array;
}

export interface ResourceScorer {
  measure(pod: PodInfo, node: NodeInfo): Fullness;
  /** Whether the pod requests none of the resources. */
  asksForNothing(pod: PodInfo): boolean;
}

/** `exact`: requests as they are; else containers without requests count with a default amount. */
export function resourceScorer(resources: readonly WeightedResource[], exact: boolean): ResourceScorer {
  const count = resources.length;
  const names = resources.map(({ name }) => name);
  const fullness = {
    count,
    allocatable: new Float64Array(count),
    used: new Float64Array(count),
    requested: new Float64Array(count),
    weights: Float64Array.from(resources, ({ weight }) => weight),
  };
  const own = (pod: PodInfo, name: string): number => {
    if (name === 'cpu') return exact ? pod.requests.milliCpu : pod.nonZeroMilliCpu;
    if (name === 'memory') return exact ? pod.requests.memory : pod.nonZeroMemory;
    if (name === 'ephemeral-storage') return pod.requests.ephemeralStorage;
    return pod.requests.scalars?.get(name) ?? 0;
  };
  return {
    asksForNothing: (pod) => names.every((name) => own(pod, name) === 0),
    measure(pod, node) {
      for (let i = 0; i < count; i++) {
        const name = names[i] as string;
        const needed = own(pod, name);
        const total = needed === 0 && isScalar(name) ? 0 : allocatableOf(node, name);
        fullness.allocatable[i] = total;
        fullness.used[i] = total === 0 ? 0 : usedOf(node, name, exact);
        fullness.requested[i] = total === 0 ? 0 : (fullness.used[i] as number) + needed;
      }
      return fullness;
    },
  };
}

function isScalar(name: string): boolean {
  return name !== 'cpu' && name !== 'memory' && name !== 'ephemeral-storage';
}

function allocatableOf({ allocatable }: NodeInfo, name: string): number {
  if (name === 'cpu') return allocatable.milliCpu;
  if (name === 'memory') return allocatable.memory;
  if (name === 'ephemeral-storage') return allocatable.ephemeralStorage;
  return allocatable.scalars?.get(name) ?? 0;
}

function usedOf({ amounts, scalarsUsed }: NodeInfo, name: string, exact: boolean): number {
  if (name === 'cpu') return amounts[exact ? CPU_USED : CPU_SCORED] as number;
  if (name === 'memory') return amounts[exact ? MEMORY_USED : MEMORY_SCORED] as number;
  if (name === 'ephemeral-storage') return amounts[STORAGE_USED] as number;
  return scalarsUsed.get(name) ?? 0;
}
