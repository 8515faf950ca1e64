import type { core } from '#api';
import type { TopologyHint } from './topology-hints.ts';

/** Allocates resources with NUMA topology. */
export interface HintProvider {
  readonly name: string;
  /** The topology hints for these containers together, by resource; empty for resources that they do not request. */
  hints(pod: core.Pod, containers: readonly core.Container[]): ReadonlyMap<string, readonly TopologyHint[] | undefined>;
  /** Allocates; existing allocations stay. Rejects with an AllocationError when that is impossible. */
  allocate(pod: core.Pod, container: core.Container, hint: TopologyHint): Promise<void>;
  /** Releases the pod's resources. */
  release(uid: string): Promise<void>;
  /** Pods with allocations. */
  readonly podUids: readonly string[];
}

export class AllocationError extends Error {
  override readonly name = 'AllocationError';

  constructor(
    message: string,
    /** The rejection reason. */
    readonly reason = 'UnexpectedAdmissionError',
  ) {
    super(message);
  }
}
