import { LabelSelector } from '../../../meta/v1/label-selector.ts';
import {
  atomicMapOf,
  bool,
  field,
  type Infer,
  int32,
  int64,
  listOf,
  mapListOf,
  mapOf,
  named,
  object,
  pointer,
  quantity,
  required,
  string,
  union,
} from '../../../schema.ts';
import { Container, EphemeralContainer } from '../container/container.ts';
import { ResourceRequirements } from '../container/resource-requirements.ts';
import { AppArmorProfile, SELinuxOptions, SeccompProfile, WindowsSecurityContextOptions } from '../container/security-context.ts';
import { LocalObjectReference } from '../reference/local-object-reference.ts';
import { Volume } from '../volume/volume.ts';
import { Affinity } from './affinity.ts';
import { Toleration } from './toleration.ts';

export const Sysctl = object('io.k8s.api.core.v1.Sysctl', 'A kernel setting.', {
  name: required(1, string, 'The name.'),
  value: required(2, string, 'The value to set.'),
});
export type Sysctl = Infer<typeof Sysctl>;

export const PodSecurityContext = object('io.k8s.api.core.v1.PodSecurityContext', 'Security settings of a pod, for all its containers.', {
  seLinuxOptions: pointer(1, SELinuxOptions, 'SELinux labels of the containers.'),
  windowsOptions: pointer(8, WindowsSecurityContextOptions, 'Settings for Windows containers.'),
  runAsUser: pointer(2, int64, "The user id to run as; the image's by default."),
  runAsGroup: pointer(6, int64, 'The group id to run as.'),
  runAsNonRoot: pointer(3, bool, 'If true, no container is started as root.'),
  supplementalGroups: field(4, listOf(int64), 'Further groups of the first process of each container.'),
  supplementalGroupsPolicy: pointer(
    12,
    named('v1.SupplementalGroupsPolicy'),
    'Merge adds the groups that the image gives the user; Strict does not.',
  ),
  fsGroup: pointer(5, int64, 'The group that owns the volumes.'),
  sysctls: field(7, listOf(Sysctl), "Kernel settings of the pod's own."),
  fsGroupChangePolicy: pointer(9, named('v1.PodFSGroupChangePolicy'), 'When volumes are given to fsGroup: Always or OnRootMismatch.'),
  seccompProfile: pointer(10, SeccompProfile, 'Which system calls are allowed.'),
  appArmorProfile: pointer(11, AppArmorProfile, 'The AppArmor profile.'),
  seLinuxChangePolicy: pointer(13, named('v1.PodSELinuxChangePolicy'), 'How SELinux labels reach volumes: MountOption or Recursive.'),
});
export type PodSecurityContext = Infer<typeof PodSecurityContext>;

export const HostAlias = object('io.k8s.api.core.v1.HostAlias', 'A line for /etc/hosts.', {
  ip: required(1, string, 'The address.'),
  hostnames: field(2, listOf(string), 'The names for it.'),
});
export type HostAlias = Infer<typeof HostAlias>;

export const PodDNSConfigOption = object('io.k8s.api.core.v1.PodDNSConfigOption', 'An option of the resolver.', {
  name: field(1, string, 'The name.'),
  value: pointer(2, string, 'Its value, if it has one.'),
});
export type PodDNSConfigOption = Infer<typeof PodDNSConfigOption>;

export const PodDNSConfig = object('io.k8s.api.core.v1.PodDNSConfig', 'Settings for resolving names.', {
  nameservers: field(1, listOf(string), 'The addresses of DNS servers.'),
  searches: field(2, listOf(string), 'Domains to search.'),
  options: field(3, listOf(PodDNSConfigOption), 'Options of the resolver.'),
});
export type PodDNSConfig = Infer<typeof PodDNSConfig>;

export const PodReadinessGate = object('io.k8s.api.core.v1.PodReadinessGate', 'A condition that must be true for the pod to be ready.', {
  conditionType: required(1, named('v1.PodConditionType'), 'The type of the condition.'),
});
export type PodReadinessGate = Infer<typeof PodReadinessGate>;

export const TopologySpreadConstraint = object('io.k8s.api.core.v1.TopologySpreadConstraint', 'How pods are to be spread.', {
  maxSkew: required(1, int32, 'By how many pods regions may differ.'),
  topologyKey: required(2, string, 'The label of nodes whose values make the regions.'),
  whenUnsatisfiable: required(3, named('v1.UnsatisfiableConstraintAction'), 'DoNotSchedule, or ScheduleAnyway to merely prefer it.'),
  labelSelector: pointer(4, LabelSelector, 'Labels of the pods that count.'),
  minDomains: pointer(5, int32, 'How many regions there must be at least.'),
  nodeAffinityPolicy: pointer(6, named('v1.NodeInclusionPolicy'), 'Whether nodes that the pod cannot use count: Honor or Ignore.'),
  nodeTaintsPolicy: pointer(7, named('v1.NodeInclusionPolicy'), 'Whether nodes that the pod does not tolerate count: Honor or Ignore.'),
  matchLabelKeys: field(8, listOf(string), 'Keys whose values in the new pod the others must share to count.'),
});
export type TopologySpreadConstraint = Infer<typeof TopologySpreadConstraint>;

export const PodOS = object('io.k8s.api.core.v1.PodOS', 'An operating system.', {
  name: required(1, named('v1.OSName'), 'linux or windows.'),
});
export type PodOS = Infer<typeof PodOS>;

export const PodSchedulingGate = object('io.k8s.api.core.v1.PodSchedulingGate', 'Something that holds back scheduling.', {
  name: required(1, string, 'The name of the gate.'),
});
export type PodSchedulingGate = Infer<typeof PodSchedulingGate>;

export const PodResourceClaim = object('io.k8s.api.core.v1.PodResourceClaim', 'A ResourceClaim of a pod.', {
  name: required(1, string, 'The name by which containers refer to it.'),
  resourceClaimName: pointer(3, string, "The claim, in the pod's namespace."),
  resourceClaimTemplateName: pointer(4, string, 'The template from which a claim is made for the pod.'),
});
export type PodResourceClaim = Infer<typeof PodResourceClaim>;

export const PodSchedulingGroup = union(
  object('io.k8s.api.core.v1.PodSchedulingGroup', 'A group of pods that is scheduled together.', {
    podGroupName: pointer(1, string, 'The group.'),
  }),
  { fields: ['podGroupName'] },
);
export type PodSchedulingGroup = Infer<typeof PodSchedulingGroup>;

export const PodSpec = object('io.k8s.api.core.v1.PodSpec', 'What a pod runs, and how.', {
  volumes: field(1, mapListOf(Volume, 'name'), 'Storage that containers of the pod can mount.', { merge: 'name', retainKeys: true }),
  initContainers: field(
    20,
    mapListOf(Container, 'name'),
    'Containers that run to completion, one after another, before the others start.',
    { merge: 'name' },
  ),
  containers: required(2, mapListOf(Container, 'name'), 'The containers of the pod. There is at least one.', { merge: 'name' }),
  ephemeralContainers: field(
    34,
    mapListOf(EphemeralContainer, 'name'),
    'Containers added to the running pod for debugging, through the ephemeralcontainers subresource.',
    { merge: 'name' },
  ),
  restartPolicy: field(
    3,
    named('v1.RestartPolicy'),
    'When ended containers are started again: Always, OnFailure or Never. Always by default.',
  ),
  terminationGracePeriodSeconds: pointer(4, int64, 'The seconds between the stop signal and the kill of containers. 30 by default.'),
  activeDeadlineSeconds: pointer(5, int64, 'How long the pod may run before it is failed.'),
  dnsPolicy: field(
    6,
    named('v1.DNSPolicy'),
    'How names are resolved: ClusterFirst (the default), ClusterFirstWithHostNet, Default or None.',
  ),
  nodeSelector: field(7, atomicMapOf(string), 'Labels that a node must have to run the pod.'),
  serviceAccountName: field(8, string, 'The service account that the pod acts as.'),
  serviceAccount: field(9, string, 'The old name of serviceAccountName.'),
  automountServiceAccountToken: pointer(21, bool, "Whether the service account's token is mounted into the containers."),
  nodeName: field(10, string, 'The node that the pod runs on. Set by the scheduler; a pod created with it bypasses the scheduler.'),
  hostNetwork: field(11, bool, "If true, the pod uses the node's network."),
  hostPID: field(12, bool, "If true, the pod sees the node's processes."),
  hostIPC: field(13, bool, "If true, the pod shares the node's inter-process communication."),
  shareProcessNamespace: pointer(27, bool, "If true, the containers see each other's processes."),
  securityContext: pointer(14, PodSecurityContext, 'Security settings for all containers of the pod.'),
  imagePullSecrets: field(15, mapListOf(LocalObjectReference, 'name'), 'Secrets with credentials for pulling images.', { merge: 'name' }),
  hostname: field(16, string, "The pod's host name; its own name by default."),
  subdomain: field(17, string, "The subdomain of the pod's full host name."),
  affinity: pointer(18, Affinity, 'Which nodes, and which company of other pods, are preferred or demanded.'),
  schedulerName: field(19, string, 'The scheduler that places the pod.'),
  tolerations: field(22, listOf(Toleration), 'The taints of nodes that the pod tolerates.'),
  hostAliases: field(23, mapListOf(HostAlias, 'ip'), "Lines to add to the containers' /etc/hosts.", { merge: 'ip' }),
  priorityClassName: field(24, string, "The PriorityClass that the pod's priority comes from."),
  priority: pointer(25, int32, "The pod's priority: the higher, the more important. Set from the class."),
  dnsConfig: pointer(26, PodDNSConfig, 'Settings for resolving names, merged with those of dnsPolicy.'),
  readinessGates: field(28, listOf(PodReadinessGate), "Conditions that must be true besides the containers' own for the pod to be ready."),
  runtimeClassName: pointer(29, string, 'The RuntimeClass that runs the pod.'),
  enableServiceLinks: pointer(30, bool, 'Whether services are announced in environment variables. True by default.'),
  preemptionPolicy: pointer(
    31,
    named('v1.PreemptionPolicy'),
    'Whether the pod may displace others of lower priority: PreemptLowerPriority or Never.',
  ),
  overhead: field(32, mapOf(quantity), 'What running the pod costs beyond its containers. Set from the RuntimeClass.'),
  topologySpreadConstraints: field(
    33,
    mapListOf(TopologySpreadConstraint, 'topologyKey', 'whenUnsatisfiable'),
    'How pods are spread over topology domains.',
    {
      merge: 'topologyKey',
    },
  ),
  setHostnameAsFQDN: pointer(35, bool, 'If true, the host name is the full one.'),
  os: pointer(36, PodOS, 'The operating system that the containers need.'),
  hostUsers: pointer(37, bool, "If false, the pod gets users of its own, apart from the node's."),
  schedulingGates: field(38, mapListOf(PodSchedulingGate, 'name'), 'While there are any, the pod is not scheduled.', { merge: 'name' }),
  resourceClaims: field(39, mapListOf(PodResourceClaim, 'name'), 'ResourceClaims that must be allocated before the pod starts.', {
    merge: 'name',
    retainKeys: true,
  }),
  resources: pointer(40, ResourceRequirements, 'CPU and memory that all containers share.'),
  hostnameOverride: pointer(41, string, 'The host name; overrides hostname and subdomain.'),
  schedulingGroup: pointer(43, PodSchedulingGroup, 'The group of pods that is scheduled together with this one.'),
});
export type PodSpec = Infer<typeof PodSpec>;
