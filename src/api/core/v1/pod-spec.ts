import { LabelSelector } from '../../meta/v1/label-selector.ts';
import {
  always,
  atomic,
  atomicMapOf,
  bool,
  field,
  type Infer,
  inlined,
  int32,
  int64,
  intOrString,
  listOf,
  mapListOf,
  mapOf,
  nullable,
  object,
  pointer,
  quantity,
  required,
  setOf,
  string,
} from '../../schema.ts';
import { Affinity } from './affinity.ts';
import { LocalObjectReference } from './local-object-reference.ts';
import { ObjectFieldSelector } from './object-field-selector.ts';
import { ResourceFieldSelector } from './resource-field-selector.ts';
import { ResourceRequirements } from './resource-requirements.ts';
import { Toleration } from './toleration.ts';
import { Volume } from './volume.ts';

export const ContainerPort = object('io.k8s.api.core.v1.ContainerPort', '', {
  name: field(1, string),
  hostPort: field(2, int32),
  containerPort: required(3, int32),
  protocol: field(4, string, '', { default: 'TCP' }),
  hostIP: field(5, string),
});
export type ContainerPort = Infer<typeof ContainerPort>;

export const ConfigMapEnvSource = object('io.k8s.api.core.v1.ConfigMapEnvSource', '', {
  ...inlined(1, LocalObjectReference),
  optional: pointer(2, bool),
});
export type ConfigMapEnvSource = Infer<typeof ConfigMapEnvSource>;

export const SecretEnvSource = object('io.k8s.api.core.v1.SecretEnvSource', '', {
  ...inlined(1, LocalObjectReference),
  optional: pointer(2, bool),
});
export type SecretEnvSource = Infer<typeof SecretEnvSource>;

export const EnvFromSource = object('io.k8s.api.core.v1.EnvFromSource', '', {
  prefix: field(1, string),
  configMapRef: pointer(2, ConfigMapEnvSource),
  secretRef: pointer(3, SecretEnvSource),
});
export type EnvFromSource = Infer<typeof EnvFromSource>;

export const ConfigMapKeySelector = atomic(
  object('io.k8s.api.core.v1.ConfigMapKeySelector', '', {
    ...inlined(1, LocalObjectReference),
    key: required(2, string),
    optional: pointer(3, bool),
  }),
);
export type ConfigMapKeySelector = Infer<typeof ConfigMapKeySelector>;

export const SecretKeySelector = atomic(
  object('io.k8s.api.core.v1.SecretKeySelector', '', {
    ...inlined(1, LocalObjectReference),
    key: required(2, string),
    optional: pointer(3, bool),
  }),
);
export type SecretKeySelector = Infer<typeof SecretKeySelector>;

export const FileKeySelector = atomic(
  object('io.k8s.api.core.v1.FileKeySelector', '', {
    volumeName: required(1, string),
    path: required(2, string),
    key: required(3, string),
    optional: pointer(4, bool),
  }),
);
export type FileKeySelector = Infer<typeof FileKeySelector>;

export const EnvVarSource = object('io.k8s.api.core.v1.EnvVarSource', '', {
  fieldRef: pointer(1, ObjectFieldSelector),
  resourceFieldRef: pointer(2, ResourceFieldSelector),
  configMapKeyRef: pointer(3, ConfigMapKeySelector),
  secretKeyRef: pointer(4, SecretKeySelector),
  fileKeyRef: pointer(5, FileKeySelector),
});
export type EnvVarSource = Infer<typeof EnvVarSource>;

export const EnvVar = object('io.k8s.api.core.v1.EnvVar', '', {
  name: required(1, string),
  value: field(2, string),
  valueFrom: pointer(3, EnvVarSource),
});
export type EnvVar = Infer<typeof EnvVar>;

export const ContainerResizePolicy = object('io.k8s.api.core.v1.ContainerResizePolicy', '', {
  resourceName: required(1, string),
  restartPolicy: required(2, string),
});
export type ContainerResizePolicy = Infer<typeof ContainerResizePolicy>;

export const ContainerRestartRuleOnExitCodes = object('io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes', '', {
  operator: field(1, string, '', { required: true }),
  values: field(2, setOf(int32)),
});
export type ContainerRestartRuleOnExitCodes = Infer<typeof ContainerRestartRuleOnExitCodes>;

export const ContainerRestartRule = object('io.k8s.api.core.v1.ContainerRestartRule', '', {
  action: field(1, string, '', { required: true }),
  exitCodes: pointer(2, ContainerRestartRuleOnExitCodes),
});
export type ContainerRestartRule = Infer<typeof ContainerRestartRule>;

export const VolumeMount = object('io.k8s.api.core.v1.VolumeMount', '', {
  name: required(1, string),
  readOnly: field(2, bool),
  recursiveReadOnly: pointer(7, string),
  mountPath: required(3, string),
  subPath: field(4, string),
  mountPropagation: pointer(5, string),
  subPathExpr: field(6, string),
});
export type VolumeMount = Infer<typeof VolumeMount>;

export const VolumeDevice = object('io.k8s.api.core.v1.VolumeDevice', '', {
  name: required(1, string),
  devicePath: required(2, string),
});
export type VolumeDevice = Infer<typeof VolumeDevice>;

export const ExecAction = object('io.k8s.api.core.v1.ExecAction', '', {
  command: field(1, listOf(string)),
});
export type ExecAction = Infer<typeof ExecAction>;

export const HTTPHeader = object('io.k8s.api.core.v1.HTTPHeader', '', {
  name: required(1, string),
  value: required(2, string),
});
export type HTTPHeader = Infer<typeof HTTPHeader>;

export const HTTPGetAction = object('io.k8s.api.core.v1.HTTPGetAction', '', {
  path: field(1, string),
  port: required(2, intOrString),
  host: field(3, string),
  scheme: field(4, string),
  httpHeaders: field(5, listOf(HTTPHeader)),
});
export type HTTPGetAction = Infer<typeof HTTPGetAction>;

export const TCPSocketAction = object('io.k8s.api.core.v1.TCPSocketAction', '', {
  port: required(1, intOrString),
  host: field(2, string),
});
export type TCPSocketAction = Infer<typeof TCPSocketAction>;

export const GRPCAction = object('io.k8s.api.core.v1.GRPCAction', '', {
  port: required(1, int32),
  service: nullable(2, string),
});
export type GRPCAction = Infer<typeof GRPCAction>;

export const ProbeHandler = object('io.k8s.api.core.v1.ProbeHandler', '', {
  exec: pointer(1, ExecAction),
  httpGet: pointer(2, HTTPGetAction),
  tcpSocket: pointer(3, TCPSocketAction),
  grpc: pointer(4, GRPCAction),
});
export type ProbeHandler = Infer<typeof ProbeHandler>;

export const Probe = object('io.k8s.api.core.v1.Probe', '', {
  ...inlined(1, ProbeHandler),
  initialDelaySeconds: field(2, int32),
  timeoutSeconds: field(3, int32),
  periodSeconds: field(4, int32),
  successThreshold: field(5, int32),
  failureThreshold: field(6, int32),
  terminationGracePeriodSeconds: pointer(7, int64),
});
export type Probe = Infer<typeof Probe>;

export const SleepAction = object('io.k8s.api.core.v1.SleepAction', '', {
  seconds: required(1, int64),
});
export type SleepAction = Infer<typeof SleepAction>;

export const LifecycleHandler = object('io.k8s.api.core.v1.LifecycleHandler', '', {
  exec: pointer(1, ExecAction),
  httpGet: pointer(2, HTTPGetAction),
  tcpSocket: pointer(3, TCPSocketAction),
  sleep: pointer(4, SleepAction),
});
export type LifecycleHandler = Infer<typeof LifecycleHandler>;

export const Lifecycle = object('io.k8s.api.core.v1.Lifecycle', '', {
  postStart: pointer(1, LifecycleHandler),
  preStop: pointer(2, LifecycleHandler),
  stopSignal: pointer(3, string),
});
export type Lifecycle = Infer<typeof Lifecycle>;

export const Capabilities = object('io.k8s.api.core.v1.Capabilities', '', {
  add: field(1, listOf(string)),
  drop: field(2, listOf(string)),
});
export type Capabilities = Infer<typeof Capabilities>;

export const SELinuxOptions = object('io.k8s.api.core.v1.SELinuxOptions', '', {
  user: field(1, string),
  role: field(2, string),
  type: field(3, string),
  level: field(4, string),
});
export type SELinuxOptions = Infer<typeof SELinuxOptions>;

export const WindowsSecurityContextOptions = object('io.k8s.api.core.v1.WindowsSecurityContextOptions', '', {
  gmsaCredentialSpecName: pointer(1, string),
  gmsaCredentialSpec: pointer(2, string),
  runAsUserName: pointer(3, string),
  hostProcess: pointer(4, bool),
});
export type WindowsSecurityContextOptions = Infer<typeof WindowsSecurityContextOptions>;

export const SeccompProfile = object('io.k8s.api.core.v1.SeccompProfile', '', {
  type: required(1, string),
  localhostProfile: pointer(2, string),
});
export type SeccompProfile = Infer<typeof SeccompProfile>;

export const AppArmorProfile = object('io.k8s.api.core.v1.AppArmorProfile', '', {
  type: required(1, string),
  localhostProfile: pointer(2, string),
});
export type AppArmorProfile = Infer<typeof AppArmorProfile>;

export const SecurityContext = object('io.k8s.api.core.v1.SecurityContext', '', {
  capabilities: pointer(1, Capabilities),
  privileged: pointer(2, bool),
  seLinuxOptions: pointer(3, SELinuxOptions),
  windowsOptions: pointer(10, WindowsSecurityContextOptions),
  runAsUser: pointer(4, int64),
  runAsGroup: pointer(8, int64),
  runAsNonRoot: pointer(5, bool),
  readOnlyRootFilesystem: pointer(6, bool),
  allowPrivilegeEscalation: pointer(7, bool),
  procMount: pointer(9, string),
  seccompProfile: pointer(11, SeccompProfile),
  appArmorProfile: pointer(12, AppArmorProfile),
});
export type SecurityContext = Infer<typeof SecurityContext>;

export const Container = object('io.k8s.api.core.v1.Container', '', {
  name: required(1, string),
  image: field(2, string),
  command: field(3, listOf(string)),
  args: field(4, listOf(string)),
  workingDir: field(5, string),
  ports: field(6, mapListOf(ContainerPort, 'containerPort', 'protocol'), '', { merge: 'containerPort' }),
  envFrom: field(19, listOf(EnvFromSource)),
  env: field(7, mapListOf(EnvVar, 'name'), '', { merge: 'name' }),
  resources: always(8, ResourceRequirements),
  resizePolicy: field(23, listOf(ContainerResizePolicy)),
  restartPolicy: pointer(24, string),
  restartPolicyRules: field(25, listOf(ContainerRestartRule)),
  volumeMounts: field(9, mapListOf(VolumeMount, 'mountPath'), '', { merge: 'mountPath' }),
  volumeDevices: field(21, mapListOf(VolumeDevice, 'devicePath'), '', { merge: 'devicePath' }),
  livenessProbe: pointer(10, Probe),
  readinessProbe: pointer(11, Probe),
  startupProbe: pointer(22, Probe),
  lifecycle: pointer(12, Lifecycle),
  terminationMessagePath: field(13, string),
  terminationMessagePolicy: field(20, string),
  imagePullPolicy: field(14, string),
  securityContext: pointer(15, SecurityContext),
  stdin: field(16, bool),
  stdinOnce: field(17, bool),
  tty: field(18, bool),
});
export type Container = Infer<typeof Container>;

export const EphemeralContainerCommon = object('io.k8s.api.core.v1.EphemeralContainerCommon', '', {
  name: always(1, string),
  image: field(2, string),
  command: field(3, listOf(string)),
  args: field(4, listOf(string)),
  workingDir: field(5, string),
  ports: field(6, listOf(ContainerPort)),
  envFrom: field(19, listOf(EnvFromSource)),
  env: field(7, listOf(EnvVar)),
  resources: always(8, ResourceRequirements),
  resizePolicy: field(23, listOf(ContainerResizePolicy)),
  restartPolicy: pointer(24, string),
  restartPolicyRules: field(25, listOf(ContainerRestartRule)),
  volumeMounts: field(9, listOf(VolumeMount)),
  volumeDevices: field(21, listOf(VolumeDevice)),
  livenessProbe: pointer(10, Probe),
  readinessProbe: pointer(11, Probe),
  startupProbe: pointer(22, Probe),
  lifecycle: pointer(12, Lifecycle),
  terminationMessagePath: field(13, string),
  terminationMessagePolicy: field(20, string),
  imagePullPolicy: field(14, string),
  securityContext: pointer(15, SecurityContext),
  stdin: field(16, bool),
  stdinOnce: field(17, bool),
  tty: field(18, bool),
});
export type EphemeralContainerCommon = Infer<typeof EphemeralContainerCommon>;

export const EphemeralContainer = object('io.k8s.api.core.v1.EphemeralContainer', '', {
  ...inlined(1, EphemeralContainerCommon),
  targetContainerName: field(2, string),
});
export type EphemeralContainer = Infer<typeof EphemeralContainer>;

export const Sysctl = object('io.k8s.api.core.v1.Sysctl', '', {
  name: required(1, string),
  value: required(2, string),
});
export type Sysctl = Infer<typeof Sysctl>;

export const PodSecurityContext = object('io.k8s.api.core.v1.PodSecurityContext', '', {
  seLinuxOptions: pointer(1, SELinuxOptions),
  windowsOptions: pointer(8, WindowsSecurityContextOptions),
  runAsUser: pointer(2, int64),
  runAsGroup: pointer(6, int64),
  runAsNonRoot: pointer(3, bool),
  supplementalGroups: field(4, listOf(int64)),
  supplementalGroupsPolicy: pointer(12, string),
  fsGroup: pointer(5, int64),
  sysctls: field(7, listOf(Sysctl)),
  fsGroupChangePolicy: pointer(9, string),
  seccompProfile: pointer(10, SeccompProfile),
  appArmorProfile: pointer(11, AppArmorProfile),
  seLinuxChangePolicy: pointer(13, string),
});
export type PodSecurityContext = Infer<typeof PodSecurityContext>;

export const HostAlias = object('io.k8s.api.core.v1.HostAlias', '', {
  ip: required(1, string),
  hostnames: field(2, listOf(string)),
});
export type HostAlias = Infer<typeof HostAlias>;

export const PodDNSConfigOption = object('io.k8s.api.core.v1.PodDNSConfigOption', '', {
  name: field(1, string),
  value: pointer(2, string),
});
export type PodDNSConfigOption = Infer<typeof PodDNSConfigOption>;

export const PodDNSConfig = object('io.k8s.api.core.v1.PodDNSConfig', '', {
  nameservers: field(1, listOf(string)),
  searches: field(2, listOf(string)),
  options: field(3, listOf(PodDNSConfigOption)),
});
export type PodDNSConfig = Infer<typeof PodDNSConfig>;

export const PodReadinessGate = object('io.k8s.api.core.v1.PodReadinessGate', '', {
  conditionType: required(1, string),
});
export type PodReadinessGate = Infer<typeof PodReadinessGate>;

export const TopologySpreadConstraint = object('io.k8s.api.core.v1.TopologySpreadConstraint', '', {
  maxSkew: required(1, int32),
  topologyKey: required(2, string),
  whenUnsatisfiable: required(3, string),
  labelSelector: pointer(4, LabelSelector),
  minDomains: pointer(5, int32),
  nodeAffinityPolicy: pointer(6, string),
  nodeTaintsPolicy: pointer(7, string),
  matchLabelKeys: field(8, listOf(string)),
});
export type TopologySpreadConstraint = Infer<typeof TopologySpreadConstraint>;

export const PodOS = object('io.k8s.api.core.v1.PodOS', '', {
  name: required(1, string),
});
export type PodOS = Infer<typeof PodOS>;

export const PodSchedulingGate = object('io.k8s.api.core.v1.PodSchedulingGate', '', {
  name: required(1, string),
});
export type PodSchedulingGate = Infer<typeof PodSchedulingGate>;

export const PodResourceClaim = object('io.k8s.api.core.v1.PodResourceClaim', '', {
  name: required(1, string),
  resourceClaimName: pointer(3, string),
  resourceClaimTemplateName: pointer(4, string),
});
export type PodResourceClaim = Infer<typeof PodResourceClaim>;

export const PodSchedulingGroup = object('io.k8s.api.core.v1.PodSchedulingGroup', '', {
  podGroupName: pointer(1, string),
});
export type PodSchedulingGroup = Infer<typeof PodSchedulingGroup>;

export const PodSpec = object('io.k8s.api.core.v1.PodSpec', '', {
  volumes: field(1, mapListOf(Volume, 'name'), '', { merge: 'name', retainKeys: true }),
  initContainers: field(20, mapListOf(Container, 'name'), '', { merge: 'name' }),
  containers: required(2, mapListOf(Container, 'name'), '', { merge: 'name' }),
  ephemeralContainers: field(34, mapListOf(EphemeralContainer, 'name'), '', { merge: 'name' }),
  restartPolicy: field(3, string),
  terminationGracePeriodSeconds: pointer(4, int64),
  activeDeadlineSeconds: pointer(5, int64),
  dnsPolicy: field(6, string),
  nodeSelector: field(7, atomicMapOf(string)),
  serviceAccountName: field(8, string),
  serviceAccount: field(9, string),
  automountServiceAccountToken: pointer(21, bool),
  nodeName: field(10, string),
  hostNetwork: field(11, bool),
  hostPID: field(12, bool),
  hostIPC: field(13, bool),
  shareProcessNamespace: pointer(27, bool),
  securityContext: pointer(14, PodSecurityContext),
  imagePullSecrets: field(15, mapListOf(LocalObjectReference, 'name'), '', { merge: 'name' }),
  hostname: field(16, string),
  subdomain: field(17, string),
  affinity: pointer(18, Affinity),
  schedulerName: field(19, string),
  tolerations: field(22, listOf(Toleration)),
  hostAliases: field(23, mapListOf(HostAlias, 'ip'), '', { merge: 'ip' }),
  priorityClassName: field(24, string),
  priority: pointer(25, int32),
  dnsConfig: pointer(26, PodDNSConfig),
  readinessGates: field(28, listOf(PodReadinessGate)),
  runtimeClassName: pointer(29, string),
  enableServiceLinks: pointer(30, bool),
  preemptionPolicy: pointer(31, string),
  overhead: field(32, mapOf(quantity)),
  topologySpreadConstraints: field(33, mapListOf(TopologySpreadConstraint, 'topologyKey', 'whenUnsatisfiable'), '', {
    merge: 'topologyKey',
  }),
  setHostnameAsFQDN: pointer(35, bool),
  os: pointer(36, PodOS),
  hostUsers: pointer(37, bool),
  schedulingGates: field(38, mapListOf(PodSchedulingGate, 'name'), '', { merge: 'name' }),
  resourceClaims: field(39, mapListOf(PodResourceClaim, 'name'), '', { merge: 'name', retainKeys: true }),
  resources: pointer(40, ResourceRequirements),
  hostnameOverride: pointer(41, string),
  schedulingGroup: pointer(43, PodSchedulingGroup),
});
export type PodSpec = Infer<typeof PodSpec>;
