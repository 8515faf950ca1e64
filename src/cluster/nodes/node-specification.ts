import type { LinuxKubeletConfig } from '#kubelet';
import type { NodeRuntime } from './choose-runtime.ts';

/** A node that the cluster starts. Joined nodes have their own kubelet and no specification. */
export type NodeSpecification = SimulatedNode | MachineNode;

/** A node with simulated containers. */
export interface SimulatedNode {
  readonly type: 'simulated';
  readonly name: string;
}

/** This machine. */
export interface MachineNode {
  readonly type: 'machine';
  readonly name: string;
  readonly runtime: Exclude<NodeRuntime, { readonly type: 'simulated' }>;
  /** The directory of its pods' volumes, logs and addresses. */
  readonly directory: string;
  /** Settings of real nodes only. */
  readonly kubelet?: Partial<LinuxKubeletConfig>;
}

export function simulatedNodes(names: readonly string[]): readonly SimulatedNode[] {
  return names.map((name) => ({ type: 'simulated', name }));
}
