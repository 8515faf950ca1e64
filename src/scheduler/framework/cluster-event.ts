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
  /** As metrics call it. */
  readonly label: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export type QueueingHint = 'Queue' | 'Skip';

/** A kind of event that may make pods schedulable which a plugin had rejected. */
export interface EventInterest {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  /** Whether this very change may help this pod. Absent: it may. */
  hint?(pod: PodInfo, event: ClusterEvent): QueueingHint;
}

/** Concerns every pod, whatever rejected it. */
export function isWildcard({ resource }: ClusterEvent): boolean {
  return resource === 'Any';
}
