import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
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
  named,
  object,
  pointer,
  quantity,
  required,
  setOf,
  string,
  time,
} from '../../../schema.ts';
import { ResourceRequirements } from '../container/resource-requirements.ts';
import { PodSpec } from './pod-spec.ts';

export const PodCondition = object('io.k8s.api.core.v1.PodCondition', 'One finding about a pod.', {
  type: required(1, named('v1.PodConditionType'), 'The type of finding.'),
  observedGeneration: field(7, int64, 'The generation of the pod that the finding is about.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastProbeTime: always(3, time, 'When it was last probed.'),
  lastTransitionTime: always(4, time, 'When the status last changed.'),
  reason: field(5, string, 'Why, as one CamelCase word.'),
  message: field(6, string, 'Why, in words.'),
});
export type PodCondition = Infer<typeof PodCondition>;

export const HostIP = object('io.k8s.api.core.v1.HostIP', 'An address of a node.', {
  ip: required(1, string, 'The address.'),
});
export type HostIP = Infer<typeof HostIP>;

export const PodIP = object('io.k8s.api.core.v1.PodIP', 'An address of a pod.', {
  ip: required(1, string, 'The address.'),
});
export type PodIP = Infer<typeof PodIP>;

export const ContainerStateWaiting = object('io.k8s.api.core.v1.ContainerStateWaiting', 'A container that is about to start.', {
  reason: field(1, string, 'Why, as one CamelCase word.'),
  message: field(2, string, 'Why, in words.'),
});
export type ContainerStateWaiting = Infer<typeof ContainerStateWaiting>;

export const ContainerStateRunning = object('io.k8s.api.core.v1.ContainerStateRunning', 'A container that runs.', {
  startedAt: always(1, time, 'Since when.'),
});
export type ContainerStateRunning = Infer<typeof ContainerStateRunning>;

export const ContainerStateTerminated = object('io.k8s.api.core.v1.ContainerStateTerminated', 'A container that has ended.', {
  exitCode: required(1, int32, 'Its exit code.'),
  signal: field(2, int32, 'The signal that ended it.'),
  reason: field(3, string, 'Why, as one CamelCase word.'),
  message: field(4, string, 'Why, in words.'),
  startedAt: always(5, time, 'When it had started.'),
  finishedAt: always(6, time, 'When it ended.'),
  containerID: field(7, string, "The container's id, as type://id."),
});
export type ContainerStateTerminated = Infer<typeof ContainerStateTerminated>;

export const ContainerState = object(
  'io.k8s.api.core.v1.ContainerState',
  'What a container is doing. At most one member is set; none means waiting.',
  {
    waiting: pointer(1, ContainerStateWaiting, 'It is about to start.'),
    running: pointer(2, ContainerStateRunning, 'It runs.'),
    terminated: pointer(3, ContainerStateTerminated, 'It has ended.'),
  },
);
export type ContainerState = Infer<typeof ContainerState>;

export const ImageVolumeStatus = object('io.k8s.api.core.v1.ImageVolumeStatus', 'What is known of an image volume.', {
  imageRef: field(1, string, 'The image, by digest.', { required: true }),
});
export type ImageVolumeStatus = Infer<typeof ImageVolumeStatus>;

export const VolumeStatus = object('io.k8s.api.core.v1.VolumeStatus', 'What is known of a mounted volume.', {
  image: pointer(1, ImageVolumeStatus, 'What is known of an image volume.'),
});
export type VolumeStatus = Infer<typeof VolumeStatus>;

export const VolumeMountStatus = object('io.k8s.api.core.v1.VolumeMountStatus', 'A mount of a container.', {
  name: required(1, string, 'The name.'),
  mountPath: required(2, string, 'The directory in the container.'),
  readOnly: field(3, bool, 'Whether it is mounted read-only.'),
  recursiveReadOnly: pointer(4, named('v1.RecursiveReadOnlyMode'), 'Whether mounts below are read-only too.'),
  volumeStatus: pointer(5, VolumeStatus, 'What is known of the volume.'),
});
export type VolumeMountStatus = Infer<typeof VolumeMountStatus>;

export const LinuxContainerUser = object('io.k8s.api.core.v1.LinuxContainerUser', "The user of a container's first process on Linux.", {
  uid: required(1, int64, 'The unique id.'),
  gid: required(2, int64, 'The group id.'),
  supplementalGroups: field(3, listOf(int64), 'Further group ids.'),
});
export type LinuxContainerUser = Infer<typeof LinuxContainerUser>;

export const ContainerUser = object('io.k8s.api.core.v1.ContainerUser', "The user of a container's first process.", {
  linux: pointer(1, LinuxContainerUser, 'The user on Linux.'),
});
export type ContainerUser = Infer<typeof ContainerUser>;

export const ResourceHealth = object('io.k8s.api.core.v1.ResourceHealth', 'The health of a device.', {
  resourceID: required(1, named('v1.ResourceID'), 'The device.'),
  health: field(2, named('v1.ResourceHealthStatus'), 'Healthy, Unhealthy or Unknown.'),
  message: pointer(6, string, 'Why, in words.'),
});
export type ResourceHealth = Infer<typeof ResourceHealth>;

export const ResourceStatus = object('io.k8s.api.core.v1.ResourceStatus', 'The health of devices of one resource.', {
  name: required(1, named('v1.ResourceName'), 'The name.'),
  resources: field(2, mapListOf(ResourceHealth, 'resourceID'), 'The devices.'),
});
export type ResourceStatus = Infer<typeof ResourceStatus>;

export const ContainerStatus = object('io.k8s.api.core.v1.ContainerStatus', 'The state of a container.', {
  name: required(1, string, 'The container.'),
  state: always(2, ContainerState, 'What it is doing.'),
  lastState: always(3, ContainerState, 'How it ended last.'),
  ready: required(4, bool, 'Whether it passes its readiness probe.'),
  restartCount: required(5, int32, 'How often it was restarted.'),
  image: required(6, string, 'The image it runs.'),
  imageID: required(7, string, "The image's id or digest."),
  containerID: field(8, string, "The container's id, as type://id."),
  started: pointer(9, bool, 'Whether it has started and passed its startup probe.'),
  allocatedResources: field(10, mapOf(quantity), 'What the node has set aside for it.'),
  resources: pointer(11, ResourceRequirements, 'What is in force for it.'),
  volumeMounts: field(12, mapListOf(VolumeMountStatus, 'mountPath'), 'Its mounts.', { merge: 'mountPath' }),
  user: pointer(13, ContainerUser, 'The user that its first process runs as.'),
  allocatedResourcesStatus: field(14, mapListOf(ResourceStatus, 'name'), 'The health of devices given to it.', { merge: 'name' }),
  stopSignal: pointer(15, named('v1.Signal'), 'The signal that stops it.'),
});
export type ContainerStatus = Infer<typeof ContainerStatus>;

export const PodResourceClaimStatus = object('io.k8s.api.core.v1.PodResourceClaimStatus', 'The claim made for an entry of the pod.', {
  name: required(1, string, 'The name.'),
  resourceClaimName: pointer(2, string, 'The claim.'),
});
export type PodResourceClaimStatus = Infer<typeof PodResourceClaimStatus>;

export const ContainerExtendedResourceRequest = object(
  'io.k8s.api.core.v1.ContainerExtendedResourceRequest',
  "The claim's request for a resource of a container.",
  {
    containerName: required(1, string, 'The container.'),
    resourceName: required(2, string, 'The resource.'),
    requestName: required(3, string, 'The request of the claim.'),
  },
);
export type ContainerExtendedResourceRequest = Infer<typeof ContainerExtendedResourceRequest>;

export const PodExtendedResourceClaimStatus = object(
  'io.k8s.api.core.v1.PodExtendedResourceClaimStatus',
  'The claim made for extended resources of a pod.',
  {
    requestMappings: required(1, listOf(ContainerExtendedResourceRequest), "Which container's resource is which request of the claim."),
    resourceClaimName: required(2, string, 'The claim.'),
  },
);
export type PodExtendedResourceClaimStatus = Infer<typeof PodExtendedResourceClaimStatus>;

export const NodeAllocatableResourceClaimStatus = object(
  'io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus',
  "What a claim takes from the node's own resources.",
  {
    resourceClaimName: required(1, string, 'The claim.'),
    containers: field(2, setOf(string), 'The containers that use it.'),
    resources: required(3, named('map[v1.ResourceName]resource.Quantity', mapOf(quantity)), 'How much, by resource.'),
  },
);
export type NodeAllocatableResourceClaimStatus = Infer<typeof NodeAllocatableResourceClaimStatus>;

export const PodStatus = object('io.k8s.api.core.v1.PodStatus', 'What is known of a pod.', {
  observedGeneration: field(17, int64, 'The generation of the pod that this status is about.'),
  phase: field(1, named('v1.PodPhase'), 'Pending, Running, Succeeded, Failed or Unknown.'),
  conditions: field(2, mapListOf(PodCondition, 'type'), 'PodScheduled, Initialized, ContainersReady, Ready and others.', { merge: 'type' }),
  message: field(3, string, 'Why the pod is in this state, in words.'),
  reason: field(4, string, 'Why the pod is in this state, as one word, such as Evicted.'),
  nominatedNodeName: field(11, string, 'The node on which room is being made for the pod.'),
  hostIP: field(5, string, 'The address of the node.'),
  hostIPs: field(16, listOf(HostIP), 'The addresses of the node, one a family.', { merge: 'ip' }),
  podIP: field(6, string, 'The address of the pod.'),
  podIPs: field(12, mapListOf(PodIP, 'ip'), 'The addresses of the pod, one a family.', { merge: 'ip' }),
  startTime: pointer(7, time, 'When the kubelet took notice of the pod.'),
  initContainerStatuses: field(10, listOf(ContainerStatus), 'The state of each init container.'),
  containerStatuses: field(8, listOf(ContainerStatus), 'The state of each container.'),
  qosClass: field(9, named('v1.PodQOSClass'), 'Guaranteed, Burstable or BestEffort: what is evicted first when a node runs short.'),
  ephemeralContainerStatuses: field(13, listOf(ContainerStatus), 'The state of each ephemeral container.'),
  resize: field(14, named('v1.PodResizeStatus'), 'No longer used: conditions show the state of a resize.'),
  resourceClaimStatuses: field(15, mapListOf(PodResourceClaimStatus, 'name'), 'The ResourceClaims made for the pod.', {
    merge: 'name',
    retainKeys: true,
  }),
  extendedResourceClaimStatus: pointer(18, PodExtendedResourceClaimStatus, 'The ResourceClaim made for extended resources of the pod.'),
  allocatedResources: field(19, mapOf(quantity), 'What the node has set aside for the pod.'),
  resources: pointer(20, ResourceRequirements, 'CPU and memory that are in force for the pod.'),
  nodeAllocatableResourceClaimStatuses: field(
    21,
    listOf(NodeAllocatableResourceClaimStatus),
    "What claims take from the node's own resources.",
  ),
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
  'Containers that run together on one node, share its network address and live and die as one.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, PodSpec, 'What is to run.'),
    status: always(3, PodStatus, 'What is running, as last reported. Set by the system.'),
  },
);
export type Pod = Infer<typeof Pod>;
