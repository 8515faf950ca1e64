import type { core } from '#api';
import type { Signal } from './thresholds.ts';

export interface Observation {
  readonly available: number;
  readonly capacity: number;
}

export type Observations = ReadonlyMap<Signal, Observation>;

/** A container's usage; undefined: unknown. */
export interface ContainerUse {
  readonly name: string;
  readonly memoryBytes?: number | undefined;
  readonly rootfsBytes?: number | undefined;
  readonly rootfsInodes?: number | undefined;
  readonly logBytes?: number | undefined;
  readonly logInodes?: number | undefined;
}

/** A pod's usage. */
export interface PodUse {
  readonly memoryBytes?: number | undefined;
  readonly processes?: number | undefined;
  /** In volumes on the node's file system. */
  readonly volumeBytes: number;
  readonly volumeInodes: number;
  readonly containers: readonly ContainerUse[];
}

/** By the pod's uid. */
export type PodUses = ReadonlyMap<string, PodUse>;

export interface NodeObservation {
  readonly observations: Observations;
  /** Images and writable layers are on a separate file system. */
  readonly hasImageFs: boolean;
}

/** Measures the node's available resources and their usage. */
export interface NodeMeasurements {
  /** Resolves before the first measurement. Absent: measured from the start. */
  readonly started?: Promise<void>;
  observe(): Promise<NodeObservation>;
  /** Called only when a pod must be evicted: it may be slow. Pods that cannot be measured are left out. */
  podUses(pods: readonly core.Pod[]): Promise<PodUses>;
  /** Why a pod exceeds its local storage limits; undefined when it does not. */
  localStorageExcess(pod: core.Pod): Promise<string | undefined>;
}
