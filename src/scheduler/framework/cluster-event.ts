import type { PodInfo } from './pod-info.ts';

/** The resource of a cluster event. Assigned and unassigned pods are different resources. */
export type EventResource =
  | 'Node'
  | 'AssignedPod'
  | 'UnscheduledPod'
  | 'PersistentVolume'
  | 'PersistentVolumeClaim'
  | 'StorageClass'
  | 'CSINode'
  | 'CSIDriver'
  | 'CSIStorageCapacity'
  | 'VolumeAttachment'
  | 'ResourceClaim'
  | 'ResourceSlice'
  | 'DeviceClass'
  | 'Service'
  | 'Any';

export type EventAction =
  | 'Add'
  | 'Delete'
  | 'Update'
  | 'UpdateNodeAllocatable'
  | 'UpdateNodeLabel'
  | 'UpdateNodeTaint'
  | 'UpdateNodeCondition'
  | 'UpdateNodeAnnotation'
  | 'UpdateNodeDeclaredFeature'
  | 'UpdatePodLabel'
  | 'UpdatePodScaleDown'
  | 'UpdatePodToleration'
  | 'UpdatePodSchedulingGatesEliminated'
  | 'UpdatePodGeneratedResourceClaim'
  | 'ForceActivate'
  | 'UnschedulableTimeout';

export interface ClusterEvent {
  readonly resource: EventResource;
  readonly action: EventAction;
  /** The label in metrics. */
  readonly label: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export type QueueingHint = 'Queue' | 'Skip';

/** A kind of event that may make pods schedulable that a plugin rejected. */
export interface EventInterest {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  /** Whether this change may help this pod. Absent: yes. */
  hint?(pod: PodInfo, event: ClusterEvent): QueueingHint;
}

/** Concerns every pod, whichever plugin rejected it. */
export function isWildcard({ resource }: ClusterEvent): boolean {
  return resource === 'Any';
}
