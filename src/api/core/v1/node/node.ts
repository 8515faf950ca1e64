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

export const Taint = object('io.k8s.api.core.v1.Taint', 'Keeps pods away from a node unless they tolerate it.', {
  key: required(1, string, 'The key that tolerations name.'),
  value: field(2, string, 'The value that belongs to the key.'),
  effect: required(3, named('v1.TaintEffect'), 'NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: pointer(4, time, 'When the taint was added.'),
});
export type Taint = Infer<typeof Taint>;

export const ConfigMapNodeConfigSource = object(
  'io.k8s.api.core.v1.ConfigMapNodeConfigSource',
  'No longer used: a ConfigMap with kubelet configuration.',
  {
    namespace: required(1, string, 'The namespace.'),
    name: required(2, string, 'The name.'),
    uid: field(3, named('types.UID'), 'The unique id.'),
    resourceVersion: field(4, string, 'The version of the ConfigMap.'),
    kubeletConfigKey: required(5, string, 'The key in the ConfigMap.'),
  },
);
export type ConfigMapNodeConfigSource = Infer<typeof ConfigMapNodeConfigSource>;

export const NodeConfigSource = object('io.k8s.api.core.v1.NodeConfigSource', 'No longer used: a source of kubelet configuration.', {
  configMap: pointer(2, ConfigMapNodeConfigSource, 'The ConfigMap.'),
});
export type NodeConfigSource = Infer<typeof NodeConfigSource>;

export const NodeSpec = object('io.k8s.api.core.v1.NodeSpec', 'What is wanted of a node.', {
  podCIDR: field(1, string, "The range of addresses for the node's pods."),
  podCIDRs: field(7, setOf(string), "The ranges of addresses for the node's pods, one a family; the first is podCIDR.", { merge: '' }),
  providerID: field(3, string, "The machine's id at its cloud provider, as provider://id."),
  unschedulable: field(4, bool, 'If true, no new pods are scheduled here. Set by kubectl cordon.'),
  taints: field(5, listOf(Taint), 'What keeps pods away that do not tolerate it.'),
  configSource: pointer(6, NodeConfigSource, 'No longer used: dynamic kubelet configuration.'),
  externalID: field(2, string, 'No longer used.'),
});
export type NodeSpec = Infer<typeof NodeSpec>;

export const NodeCondition = object('io.k8s.api.core.v1.NodeCondition', 'One finding about a node.', {
  type: required(1, named('v1.NodeConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastHeartbeatTime: always(3, time, 'The time of the last update.'),
  lastTransitionTime: always(4, time, 'When the status last changed.'),
  reason: field(5, string, 'Why, as one CamelCase word.'),
  message: field(6, string, 'Why, in words.'),
});
export type NodeCondition = Infer<typeof NodeCondition>;

export const NodeAddress = object('io.k8s.api.core.v1.NodeAddress', 'An address or name of a node.', {
  type: required(1, named('v1.NodeAddressType'), 'Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.'),
  address: required(2, string, 'The address itself.'),
});
export type NodeAddress = Infer<typeof NodeAddress>;

export const DaemonEndpoint = object('io.k8s.api.core.v1.DaemonEndpoint', 'Where a daemon listens.', {
  Port: required(1, int32, 'The port number.'),
});
export type DaemonEndpoint = Infer<typeof DaemonEndpoint>;

export const NodeDaemonEndpoints = object('io.k8s.api.core.v1.NodeDaemonEndpoints', 'Ports of the daemons on a node.', {
  kubeletEndpoint: always(1, DaemonEndpoint, 'Where the kubelet listens.'),
});
export type NodeDaemonEndpoints = Infer<typeof NodeDaemonEndpoints>;

export const NodeSwapStatus = object('io.k8s.api.core.v1.NodeSwapStatus', 'Swap of a node.', {
  capacity: pointer(1, int64, 'How much swap there is, in bytes.'),
});
export type NodeSwapStatus = Infer<typeof NodeSwapStatus>;

export const NodeSystemInfo = object('io.k8s.api.core.v1.NodeSystemInfo', "What a node's machine is.", {
  machineID: required(1, string, 'The id of the machine, from /etc/machine-id.'),
  systemUUID: required(2, string, 'The id that the firmware reports.'),
  bootID: required(3, string, 'The id of the current boot.'),
  kernelVersion: required(4, string, "The kernel's version."),
  osImage: required(5, string, 'The operating system, in words.'),
  containerRuntimeVersion: required(6, string, 'The container runtime and its version, as in containerd://2.0.0.'),
  kubeletVersion: required(7, string, "The kubelet's version."),
  kubeProxyVersion: required(8, string, 'No longer filled in.'),
  operatingSystem: required(9, string, 'linux or windows.'),
  architecture: required(10, string, "The processor's architecture, such as amd64."),
  swap: pointer(11, NodeSwapStatus, 'What swap the node has.'),
});
export type NodeSystemInfo = Infer<typeof NodeSystemInfo>;

export const ContainerImage = object('io.k8s.api.core.v1.ContainerImage', 'An image on a node.', {
  names: always(1, listOf(string), 'The names by which the image is known.'),
  sizeBytes: field(2, int64, 'Its size.'),
});
export type ContainerImage = Infer<typeof ContainerImage>;

export const AttachedVolume = object('io.k8s.api.core.v1.AttachedVolume', 'A volume attached to a node.', {
  name: required(1, named('v1.UniqueVolumeName'), "The volume's unique name."),
  devicePath: required(2, string, 'The device it appears as.'),
});
export type AttachedVolume = Infer<typeof AttachedVolume>;

export const NodeConfigStatus = object('io.k8s.api.core.v1.NodeConfigStatus', 'No longer used: which kubelet configuration is in force.', {
  assigned: pointer(1, NodeConfigSource, 'The configuration that was assigned.'),
  active: pointer(2, NodeConfigSource, 'The configuration in force.'),
  lastKnownGood: pointer(3, NodeConfigSource, 'The configuration to fall back to.'),
  error: field(4, string, 'What went wrong.'),
});
export type NodeConfigStatus = Infer<typeof NodeConfigStatus>;

export const NodeRuntimeHandlerFeatures = object(
  'io.k8s.api.core.v1.NodeRuntimeHandlerFeatures',
  'What a handler of the container runtime can do.',
  {
    recursiveReadOnlyMounts: pointer(1, bool, 'Whether mounts can be read-only with all below.'),
    userNamespaces: pointer(2, bool, 'Whether pods can have users of their own.'),
  },
);
export type NodeRuntimeHandlerFeatures = Infer<typeof NodeRuntimeHandlerFeatures>;

export const NodeRuntimeHandler = object('io.k8s.api.core.v1.NodeRuntimeHandler', 'A handler of the container runtime.', {
  name: always(1, string, 'The name.'),
  features: pointer(2, NodeRuntimeHandlerFeatures, 'What it can do.'),
});
export type NodeRuntimeHandler = Infer<typeof NodeRuntimeHandler>;

export const NodeFeatures = object('io.k8s.api.core.v1.NodeFeatures', 'What a container runtime can do.', {
  supplementalGroupsPolicy: pointer(1, bool, 'Whether it heeds the policy on supplemental groups.'),
});
export type NodeFeatures = Infer<typeof NodeFeatures>;

export const NodeStatus = object('io.k8s.api.core.v1.NodeStatus', 'What is known of a node, mostly from its kubelet.', {
  capacity: field(1, mapOf(quantity), 'All that the machine has, by resource.'),
  allocatable: field(2, mapOf(quantity), 'What of it is available to pods, by resource.'),
  phase: field(3, named('v1.NodePhase'), 'No longer used.'),
  conditions: field(4, mapListOf(NodeCondition, 'type'), "The node's state of health, Ready first of all.", { merge: 'type' }),
  addresses: field(5, mapListOf(NodeAddress, 'type'), 'Under which addresses and names the node is reached.', { merge: 'type' }),
  daemonEndpoints: always(6, NodeDaemonEndpoints, 'The ports of the daemons on the node.'),
  nodeInfo: always(7, NodeSystemInfo, 'What the machine is: ids, versions, operating system.'),
  images: field(8, listOf(ContainerImage), 'Images that the node has.'),
  volumesInUse: field(9, listOf(named('v1.UniqueVolumeName')), 'Attachable volumes that pods on the node use.'),
  volumesAttached: field(10, listOf(AttachedVolume), 'Volumes that are attached to the node.'),
  config: pointer(11, NodeConfigStatus, 'No longer used: status of dynamic kubelet configuration.'),
  runtimeHandlers: field(12, listOf(NodeRuntimeHandler), "The container runtime's handlers."),
  features: pointer(13, NodeFeatures, 'What the container runtime can do.'),
  declaredFeatures: field(14, listOf(string), 'Features that the node declares to have.'),
});
export type NodeStatus = Infer<typeof NodeStatus>;

export const Node = kind(
  { name: 'io.k8s.api.core.v1.Node', group: '', version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false, shortNames: ['no'] },
  'A machine that runs pods.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, NodeSpec, 'What is wanted.'),
    status: always(3, NodeStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type Node = Infer<typeof Node>;
