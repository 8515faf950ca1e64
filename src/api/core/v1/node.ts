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

export const Taint = object('io.k8s.api.core.v1.Taint', '', {
  key: required(1, string),
  value: field(2, string),
  effect: required(3, string),
  timeAdded: pointer(4, time),
});
export type Taint = Infer<typeof Taint>;

export const ConfigMapNodeConfigSource = object('io.k8s.api.core.v1.ConfigMapNodeConfigSource', '', {
  namespace: required(1, string),
  name: required(2, string),
  uid: field(3, string),
  resourceVersion: field(4, string),
  kubeletConfigKey: required(5, string),
});
export type ConfigMapNodeConfigSource = Infer<typeof ConfigMapNodeConfigSource>;

export const NodeConfigSource = object('io.k8s.api.core.v1.NodeConfigSource', '', {
  configMap: pointer(2, ConfigMapNodeConfigSource),
});
export type NodeConfigSource = Infer<typeof NodeConfigSource>;

export const NodeSpec = object('io.k8s.api.core.v1.NodeSpec', '', {
  podCIDR: field(1, string),
  podCIDRs: field(7, setOf(string), '', { merge: '' }),
  providerID: field(3, string),
  unschedulable: field(4, bool),
  taints: field(5, listOf(Taint)),
  configSource: pointer(6, NodeConfigSource),
  externalID: field(2, string),
});
export type NodeSpec = Infer<typeof NodeSpec>;

export const NodeCondition = object('io.k8s.api.core.v1.NodeCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastHeartbeatTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: field(5, string),
  message: field(6, string),
});
export type NodeCondition = Infer<typeof NodeCondition>;

export const NodeAddress = object('io.k8s.api.core.v1.NodeAddress', '', {
  type: required(1, string),
  address: required(2, string),
});
export type NodeAddress = Infer<typeof NodeAddress>;

export const DaemonEndpoint = object('io.k8s.api.core.v1.DaemonEndpoint', '', {
  Port: required(1, int32),
});
export type DaemonEndpoint = Infer<typeof DaemonEndpoint>;

export const NodeDaemonEndpoints = object('io.k8s.api.core.v1.NodeDaemonEndpoints', '', {
  kubeletEndpoint: always(1, DaemonEndpoint),
});
export type NodeDaemonEndpoints = Infer<typeof NodeDaemonEndpoints>;

export const NodeSwapStatus = object('io.k8s.api.core.v1.NodeSwapStatus', '', {
  capacity: pointer(1, int64),
});
export type NodeSwapStatus = Infer<typeof NodeSwapStatus>;

export const NodeSystemInfo = object('io.k8s.api.core.v1.NodeSystemInfo', '', {
  machineID: required(1, string),
  systemUUID: required(2, string),
  bootID: required(3, string),
  kernelVersion: required(4, string),
  osImage: required(5, string),
  containerRuntimeVersion: required(6, string),
  kubeletVersion: required(7, string),
  kubeProxyVersion: required(8, string),
  operatingSystem: required(9, string),
  architecture: required(10, string),
  swap: pointer(11, NodeSwapStatus),
});
export type NodeSystemInfo = Infer<typeof NodeSystemInfo>;

export const ContainerImage = object('io.k8s.api.core.v1.ContainerImage', '', {
  names: always(1, listOf(string)),
  sizeBytes: field(2, int64),
});
export type ContainerImage = Infer<typeof ContainerImage>;

export const AttachedVolume = object('io.k8s.api.core.v1.AttachedVolume', '', {
  name: required(1, string),
  devicePath: required(2, string),
});
export type AttachedVolume = Infer<typeof AttachedVolume>;

export const NodeConfigStatus = object('io.k8s.api.core.v1.NodeConfigStatus', '', {
  assigned: pointer(1, NodeConfigSource),
  active: pointer(2, NodeConfigSource),
  lastKnownGood: pointer(3, NodeConfigSource),
  error: field(4, string),
});
export type NodeConfigStatus = Infer<typeof NodeConfigStatus>;

export const NodeRuntimeHandlerFeatures = object('io.k8s.api.core.v1.NodeRuntimeHandlerFeatures', '', {
  recursiveReadOnlyMounts: pointer(1, bool),
  userNamespaces: pointer(2, bool),
});
export type NodeRuntimeHandlerFeatures = Infer<typeof NodeRuntimeHandlerFeatures>;

export const NodeRuntimeHandler = object('io.k8s.api.core.v1.NodeRuntimeHandler', '', {
  name: always(1, string),
  features: pointer(2, NodeRuntimeHandlerFeatures),
});
export type NodeRuntimeHandler = Infer<typeof NodeRuntimeHandler>;

export const NodeFeatures = object('io.k8s.api.core.v1.NodeFeatures', '', {
  supplementalGroupsPolicy: pointer(1, bool),
});
export type NodeFeatures = Infer<typeof NodeFeatures>;

export const NodeStatus = object('io.k8s.api.core.v1.NodeStatus', '', {
  capacity: field(1, mapOf(quantity)),
  allocatable: field(2, mapOf(quantity)),
  phase: field(3, string),
  conditions: field(4, mapListOf(NodeCondition, 'type'), '', { merge: 'type' }),
  addresses: field(5, mapListOf(NodeAddress, 'type'), '', { merge: 'type' }),
  daemonEndpoints: always(6, NodeDaemonEndpoints),
  nodeInfo: always(7, NodeSystemInfo),
  images: field(8, listOf(ContainerImage)),
  volumesInUse: field(9, listOf(string)),
  volumesAttached: field(10, listOf(AttachedVolume)),
  config: pointer(11, NodeConfigStatus),
  runtimeHandlers: field(12, listOf(NodeRuntimeHandler)),
  features: pointer(13, NodeFeatures),
  declaredFeatures: field(14, listOf(string)),
});
export type NodeStatus = Infer<typeof NodeStatus>;

export const Node = kind(
  { name: 'io.k8s.api.core.v1.Node', group: '', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false, shortNames: ['no'] },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, NodeSpec),
    status: always(3, NodeStatus),
  },
);
export type Node = Infer<typeof Node>;
