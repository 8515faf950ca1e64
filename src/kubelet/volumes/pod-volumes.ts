import type { core } from '#api';
import type { Device, Mount } from '../cri/runtime.ts';

export interface ContainerVolumes {
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
}

export interface ContainerVolumesRequest {
  readonly pod: core.Pod;
  readonly container: core.Container;
  /** The container's environment, for subPathExpr. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly supportsRecursiveReadOnly: boolean;
}

export interface VolumeUsage {
  readonly name: string;
  readonly claim?: { readonly namespace: string; readonly name: string } | undefined;
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly inodesUsed: number;
  /** Whether it counts toward the pod's ephemeral storage. */
  readonly isEphemeral: boolean;
}

/** The number of volumes by plugin. */
export interface VolumeCount {
  readonly plugin: string;
  readonly total: number;
  readonly mounted: number;
}

/** The volumes of a node's pods. On a simulated node nothing is mounted, but pods wait for their volumes. */
export interface PodVolumes extends AsyncDisposable {
  /**
   * Resolves when all volumes that the pod's containers mount are ready. Failed steps are reported by events and retried until the signal
   * aborts or upstream's two minutes are over; then it rejects, and may be called again. Also adopts mounts of an earlier kubelet.
   */
  prepare(pod: core.Pod, signal: AbortSignal): Promise<void>;
  /** Called with each state of the pod, including the first: volumes that show fields of it are updated. */
  update(pod: core.Pod): void;
  /** The mounts of a container of a prepared pod. Rejects with a StartFailure. */
  volumesFor(request: ContainerVolumesRequest): Promise<ContainerVolumes>;
  /** Unmounts and removes the volumes of a terminated pod. Rejects when one is still in use; may be called again. */
  tearDown(podUid: string): Promise<void>;
  /** The same, and the pod's whole directory. */
  cleanUp(podUid: string): Promise<void>;
  /** Removes remains of other pods. */
  removeOrphans(podUids: ReadonlySet<string>): Promise<void>;
  stats(podUid: string): Promise<readonly VolumeUsage[]>;
  /** Attachable volumes that are or may be mounted, as in node.status: they must not be detached. */
  readonly inUse: readonly string[];
}
