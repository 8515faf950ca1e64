import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  field,
  type Infer,
  int32,
  int64,
  kind,
  listOf,
  mapListOf,
  mapOf,
  object,
  pointer,
  quantity,
  required,
  setOf,
  string,
  time,
} from '../../schema.ts';
import { PodSpec } from './pod-spec.ts';
import { ResourceRequirements } from './resource-requirements.ts';

export const PodCondition = object('io.k8s.api.core.v1.PodCondition', '', {
  type: required(1, string),
  observedGeneration: field(7, int64),
  status: required(2, string),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: field(5, string),
  message: field(6, string),
});
export type PodCondition = Infer<typeof PodCondition>;

export const HostIP = object('io.k8s.api.core.v1.HostIP', '', {
  ip: required(1, string),
});
export type HostIP = Infer<typeof HostIP>;

export const PodIP = object('io.k8s.api.core.v1.PodIP', '', {
  ip: required(1, string),
});
export type PodIP = Infer<typeof PodIP>;

export const ContainerStateWaiting = object('io.k8s.api.core.v1.ContainerStateWaiting', '', {
  reason: field(1, string),
  message: field(2, string),
});
export type ContainerStateWaiting = Infer<typeof ContainerStateWaiting>;

export const ContainerStateRunning = object('io.k8s.api.core.v1.ContainerStateRunning', '', {
  startedAt: always(1, time),
});
export type ContainerStateRunning = Infer<typeof ContainerStateRunning>;

export const ContainerStateTerminated = object('io.k8s.api.core.v1.ContainerStateTerminated', '', {
  exitCode: required(1, int32),
  signal: field(2, int32),
  reason: field(3, string),
  message: field(4, string),
  startedAt: always(5, time),
  finishedAt: always(6, time),
  containerID: field(7, string),
});
export type ContainerStateTerminated = Infer<typeof ContainerStateTerminated>;

export const ContainerState = object('io.k8s.api.core.v1.ContainerState', '', {
  waiting: pointer(1, ContainerStateWaiting),
  running: pointer(2, ContainerStateRunning),
  terminated: pointer(3, ContainerStateTerminated),
});
export type ContainerState = Infer<typeof ContainerState>;

export const ImageVolumeStatus = object('io.k8s.api.core.v1.ImageVolumeStatus', '', {
  imageRef: field(1, string, '', { required: true }),
});
export type ImageVolumeStatus = Infer<typeof ImageVolumeStatus>;

export const VolumeStatus = object('io.k8s.api.core.v1.VolumeStatus', '', {
  image: pointer(1, ImageVolumeStatus),
});
export type VolumeStatus = Infer<typeof VolumeStatus>;

export const VolumeMountStatus = object('io.k8s.api.core.v1.VolumeMountStatus', '', {
  name: required(1, string),
  mountPath: required(2, string),
  readOnly: field(3, bool),
  recursiveReadOnly: pointer(4, string),
  volumeStatus: pointer(5, VolumeStatus),
});
export type VolumeMountStatus = Infer<typeof VolumeMountStatus>;

export const LinuxContainerUser = object('io.k8s.api.core.v1.LinuxContainerUser', '', {
  uid: required(1, int64),
  gid: required(2, int64),
  supplementalGroups: field(3, listOf(int64)),
});
export type LinuxContainerUser = Infer<typeof LinuxContainerUser>;

export const ContainerUser = object('io.k8s.api.core.v1.ContainerUser', '', {
  linux: pointer(1, LinuxContainerUser),
});
export type ContainerUser = Infer<typeof ContainerUser>;

export const ResourceHealth = object('io.k8s.api.core.v1.ResourceHealth', '', {
  resourceID: required(1, string),
  health: field(2, string),
  message: pointer(6, string),
});
export type ResourceHealth = Infer<typeof ResourceHealth>;

export const ResourceStatus = object('io.k8s.api.core.v1.ResourceStatus', '', {
  name: required(1, string),
  resources: field(2, mapListOf(ResourceHealth, 'resourceID')),
});
export type ResourceStatus = Infer<typeof ResourceStatus>;

export const ContainerStatus = object('io.k8s.api.core.v1.ContainerStatus', '', {
  name: required(1, string),
  state: always(2, ContainerState),
  lastState: always(3, ContainerState),
  ready: required(4, bool),
  restartCount: required(5, int32),
  image: required(6, string),
  imageID: required(7, string),
  containerID: field(8, string),
  started: pointer(9, bool),
  allocatedResources: field(10, mapOf(quantity)),
  resources: pointer(11, ResourceRequirements),
  volumeMounts: field(12, mapListOf(VolumeMountStatus, 'mountPath'), '', { merge: 'mountPath' }),
  user: pointer(13, ContainerUser),
  allocatedResourcesStatus: field(14, mapListOf(ResourceStatus, 'name'), '', { merge: 'name' }),
  stopSignal: pointer(15, string),
});
export type ContainerStatus = Infer<typeof ContainerStatus>;

export const PodResourceClaimStatus = object('io.k8s.api.core.v1.PodResourceClaimStatus', '', {
  name: required(1, string),
  resourceClaimName: pointer(2, string),
});
export type PodResourceClaimStatus = Infer<typeof PodResourceClaimStatus>;

export const ContainerExtendedResourceRequest = object('io.k8s.api.core.v1.ContainerExtendedResourceRequest', '', {
  containerName: required(1, string),
  resourceName: required(2, string),
  requestName: required(3, string),
});
export type ContainerExtendedResourceRequest = Infer<typeof ContainerExtendedResourceRequest>;

export const PodExtendedResourceClaimStatus = object('io.k8s.api.core.v1.PodExtendedResourceClaimStatus', '', {
  requestMappings: required(1, listOf(ContainerExtendedResourceRequest)),
  resourceClaimName: required(2, string),
});
export type PodExtendedResourceClaimStatus = Infer<typeof PodExtendedResourceClaimStatus>;

export const NodeAllocatableResourceClaimStatus = object('io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus', '', {
  resourceClaimName: required(1, string),
  containers: field(2, setOf(string)),
  resources: required(3, mapOf(quantity)),
});
export type NodeAllocatableResourceClaimStatus = Infer<typeof NodeAllocatableResourceClaimStatus>;

export const PodStatus = object('io.k8s.api.core.v1.PodStatus', '', {
  observedGeneration: field(17, int64),
  phase: field(1, string),
  conditions: field(2, mapListOf(PodCondition, 'type'), '', { merge: 'type' }),
  message: field(3, string),
  reason: field(4, string),
  nominatedNodeName: field(11, string),
  hostIP: field(5, string),
  hostIPs: field(16, listOf(HostIP), '', { merge: 'ip' }),
  podIP: field(6, string),
  podIPs: field(12, mapListOf(PodIP, 'ip'), '', { merge: 'ip' }),
  startTime: pointer(7, time),
  initContainerStatuses: field(10, listOf(ContainerStatus)),
  containerStatuses: field(8, listOf(ContainerStatus)),
  qosClass: field(9, string),
  ephemeralContainerStatuses: field(13, listOf(ContainerStatus)),
  resize: field(14, string),
  resourceClaimStatuses: field(15, mapListOf(PodResourceClaimStatus, 'name'), '', { merge: 'name', retainKeys: true }),
  extendedResourceClaimStatus: pointer(18, PodExtendedResourceClaimStatus),
  allocatedResources: field(19, mapOf(quantity)),
  resources: pointer(20, ResourceRequirements),
  nodeAllocatableResourceClaimStatuses: field(21, listOf(NodeAllocatableResourceClaimStatus)),
});
export type PodStatus = Infer<typeof PodStatus>;

export const Pod = kind(
  {
    name: 'io.k8s.api.core.v1.Pod',
    group: '',
    version: 'v1',
    kind: 'Pod',
    resource: 'pods',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, PodSpec),
    status: always(3, PodStatus),
  },
);
export type Pod = Infer<typeof Pod>;
