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
  named,
  nullable,
  object,
  pointer,
  quantity,
  required,
  setOf,
  string,
  union,
} from '../../schema.ts';
import { Affinity } from './affinity.ts';
import { LocalObjectReference } from './local-object-reference.ts';
import { ObjectFieldSelector } from './object-field-selector.ts';
import { ResourceFieldSelector } from './resource-field-selector.ts';
import { ResourceRequirements } from './resource-requirements.ts';
import { Toleration } from './toleration.ts';
import { Volume } from './volume.ts';

export const ContainerPort = object('io.k8s.api.core.v1.ContainerPort', 'A port that a container listens on.', {
  name: field(1, string, 'A name for the port, which services can refer to.'),
  hostPort: field(2, int32, 'The port on the node; must be free there.'),
  containerPort: required(3, int32, 'The port of the container.'),
  protocol: field(4, named('v1.Protocol'), 'TCP, UDP or SCTP; TCP by default.', { default: 'TCP' }),
  hostIP: field(5, string, 'The address of the node to bind hostPort to.'),
});
export type ContainerPort = Infer<typeof ContainerPort>;

export const ConfigMapEnvSource = object('io.k8s.api.core.v1.ConfigMapEnvSource', 'A ConfigMap whose every key becomes a variable.', {
  ...inlined(1, LocalObjectReference),
  optional: pointer(2, bool, 'Whether it may be missing.'),
});
export type ConfigMapEnvSource = Infer<typeof ConfigMapEnvSource>;

export const SecretEnvSource = object('io.k8s.api.core.v1.SecretEnvSource', 'A Secret whose every key becomes a variable.', {
  ...inlined(1, LocalObjectReference),
  optional: pointer(2, bool, 'Whether it may be missing.'),
});
export type SecretEnvSource = Infer<typeof SecretEnvSource>;

export const EnvFromSource = object('io.k8s.api.core.v1.EnvFromSource', 'Variables from every key of an object.', {
  prefix: field(1, string, 'What to put before each key.'),
  configMapRef: pointer(2, ConfigMapEnvSource, 'The ConfigMap.'),
  secretRef: pointer(3, SecretEnvSource, 'The Secret.'),
});
export type EnvFromSource = Infer<typeof EnvFromSource>;

export const ConfigMapKeySelector = atomic(
  object('io.k8s.api.core.v1.ConfigMapKeySelector', 'A key of a ConfigMap.', {
    ...inlined(1, LocalObjectReference),
    key: required(2, string, 'The key.'),
    optional: pointer(3, bool, 'Whether it may be missing.'),
  }),
);
export type ConfigMapKeySelector = Infer<typeof ConfigMapKeySelector>;

export const SecretKeySelector = atomic(
  object('io.k8s.api.core.v1.SecretKeySelector', 'A key of a Secret.', {
    ...inlined(1, LocalObjectReference),
    key: required(2, string, 'The key.'),
    optional: pointer(3, bool, 'Whether it may be missing.'),
  }),
);
export type SecretKeySelector = Infer<typeof SecretKeySelector>;

export const FileKeySelector = atomic(
  object('io.k8s.api.core.v1.FileKeySelector', 'A key of a file of variables in a volume.', {
    volumeName: required(1, string, 'The volume.'),
    path: required(2, string, 'The file, relative to the volume.'),
    key: required(3, string, 'The key.'),
    optional: pointer(4, bool, 'Whether it may be missing.', { default: false }),
  }),
);
export type FileKeySelector = Infer<typeof FileKeySelector>;

export const EnvVarSource = object('io.k8s.api.core.v1.EnvVarSource', 'Where the value of a variable comes from.', {
  fieldRef: pointer(1, ObjectFieldSelector, 'A field of the pod.'),
  resourceFieldRef: pointer(2, ResourceFieldSelector, 'A resource that the container asks for or is limited to.'),
  configMapKeyRef: pointer(3, ConfigMapKeySelector, 'A key of a ConfigMap.'),
  secretKeyRef: pointer(4, SecretKeySelector, 'A key of a Secret.'),
  fileKeyRef: pointer(5, FileKeySelector, 'A key of a file in a volume.'),
});
export type EnvVarSource = Infer<typeof EnvVarSource>;

export const EnvVar = object('io.k8s.api.core.v1.EnvVar', 'An environment variable.', {
  name: required(1, string, 'The name of the variable.'),
  value: field(2, string, 'Its value. $(VAR) is replaced by a variable defined before.'),
  valueFrom: pointer(3, EnvVarSource, 'Where its value comes from, when it is not given here.'),
});
export type EnvVar = Infer<typeof EnvVar>;

export const ContainerResizePolicy = object(
  'io.k8s.api.core.v1.ContainerResizePolicy',
  'Whether a container is restarted when a resource changes.',
  {
    resourceName: required(1, named('v1.ResourceName'), 'The resource: cpu or memory.'),
    restartPolicy: required(2, named('v1.ResourceResizeRestartPolicy'), 'NotRequired or RestartContainer.'),
  },
);
export type ContainerResizePolicy = Infer<typeof ContainerResizePolicy>;

export const ContainerRestartRuleOnExitCodes = object('io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes', 'Exit codes.', {
  operator: field(1, named('v1.ContainerRestartRuleOnExitCodesOperator'), 'In or NotIn.', { required: true }),
  values: field(2, setOf(int32), 'The codes.'),
});
export type ContainerRestartRuleOnExitCodes = Infer<typeof ContainerRestartRuleOnExitCodes>;

export const ContainerRestartRule = object('io.k8s.api.core.v1.ContainerRestartRule', 'What follows from an exit code.', {
  action: field(1, named('v1.ContainerRestartRuleAction'), 'What to do: Restart or RestartAllContainers.', { required: true }),
  exitCodes: pointer(2, ContainerRestartRuleOnExitCodes, 'The exit codes.'),
});
export type ContainerRestartRule = Infer<typeof ContainerRestartRule>;

export const VolumeMount = object('io.k8s.api.core.v1.VolumeMount', "A volume's place in a container.", {
  name: required(1, string, 'The volume, by its name in the pod.'),
  readOnly: field(2, bool, 'Whether the container may only read.'),
  recursiveReadOnly: pointer(
    7,
    named('v1.RecursiveReadOnlyMode'),
    'Whether mounts below are read-only too: Disabled, IfPossible or Enabled.',
  ),
  mountPath: required(3, string, 'The directory in the container.'),
  subPath: field(4, string, 'The directory in the volume to mount; its root by default.'),
  mountPropagation: pointer(
    5,
    named('v1.MountPropagationMode'),
    'Whether mounts made later are seen: None, HostToContainer or Bidirectional.',
  ),
  subPathExpr: field(6, string, 'As subPath, with $(VAR) replaced by variables.'),
});
export type VolumeMount = Infer<typeof VolumeMount>;

export const VolumeDevice = object('io.k8s.api.core.v1.VolumeDevice', 'A raw block device in a container.', {
  name: required(1, string, "The claim's volume, by its name in the pod."),
  devicePath: required(2, string, 'The path of the device in the container.'),
});
export type VolumeDevice = Infer<typeof VolumeDevice>;

export const ExecAction = object('io.k8s.api.core.v1.ExecAction', 'A command to run in a container.', {
  command: field(1, listOf(string), 'The command and its arguments. No shell is involved.'),
});
export type ExecAction = Infer<typeof ExecAction>;

export const HTTPHeader = object('io.k8s.api.core.v1.HTTPHeader', 'A header of a request.', {
  name: required(1, string, 'The name of the header.'),
  value: required(2, string, 'The value of the header.'),
});
export type HTTPHeader = Infer<typeof HTTPHeader>;

export const HTTPGetAction = object('io.k8s.api.core.v1.HTTPGetAction', 'A request to send.', {
  path: field(1, string, 'The path to ask for.'),
  port: required(2, intOrString, 'The port, by number or by name.'),
  host: field(3, string, 'The host to ask; the pod by default.'),
  scheme: field(4, named('v1.URIScheme'), 'HTTP or HTTPS.'),
  httpHeaders: field(5, listOf(HTTPHeader), 'Headers to send.'),
});
export type HTTPGetAction = Infer<typeof HTTPGetAction>;

export const TCPSocketAction = object('io.k8s.api.core.v1.TCPSocketAction', 'A connection to open.', {
  port: required(1, intOrString, 'The port, by number or by name.'),
  host: field(2, string, 'The host to connect to; the pod by default.'),
});
export type TCPSocketAction = Infer<typeof TCPSocketAction>;

export const GRPCAction = object('io.k8s.api.core.v1.GRPCAction', 'A gRPC health check to make.', {
  port: required(1, int32, 'The port of the gRPC service.'),
  service: nullable(2, string, "The service to ask about; '' asks about the server as a whole.", { default: '' }),
});
export type GRPCAction = Infer<typeof GRPCAction>;

export const ProbeHandler = object('io.k8s.api.core.v1.ProbeHandler', 'How a check is made.', {
  exec: pointer(1, ExecAction, 'Run a command in the container; exit code 0 is success.'),
  httpGet: pointer(2, HTTPGetAction, 'Send a GET; codes from 200 to 399 are success.'),
  tcpSocket: pointer(3, TCPSocketAction, 'Open a connection; that it opens is success.'),
  grpc: pointer(4, GRPCAction, 'Ask the gRPC health service.'),
});
export type ProbeHandler = Infer<typeof ProbeHandler>;

export const Probe = object('io.k8s.api.core.v1.Probe', 'A check that the kubelet makes now and then.', {
  ...inlined(1, ProbeHandler),
  initialDelaySeconds: field(2, int32, 'How long after the start to wait with the first check.'),
  timeoutSeconds: field(3, int32, 'How long a check may take. 1 by default.'),
  periodSeconds: field(4, int32, 'How often to check. 10 by default.'),
  successThreshold: field(5, int32, 'How many successes in a row end a failure. 1 by default.'),
  failureThreshold: field(6, int32, 'How many failures in a row count as failed. 3 by default.'),
  terminationGracePeriodSeconds: pointer(7, int64, "How long the container has to end when this probe fails; the pod's by default."),
});
export type Probe = Infer<typeof Probe>;

export const SleepAction = object('io.k8s.api.core.v1.SleepAction', 'A pause.', {
  seconds: required(1, int64, 'How long to wait.'),
});
export type SleepAction = Infer<typeof SleepAction>;

export const LifecycleHandler = object('io.k8s.api.core.v1.LifecycleHandler', "Something to do at a turn of a container's life.", {
  exec: pointer(1, ExecAction, 'Run a command in the container.'),
  httpGet: pointer(2, HTTPGetAction, 'Send a GET.'),
  tcpSocket: pointer(3, TCPSocketAction, 'No longer used.'),
  sleep: pointer(4, SleepAction, 'Wait for a while.'),
});
export type LifecycleHandler = Infer<typeof LifecycleHandler>;

export const Lifecycle = object('io.k8s.api.core.v1.Lifecycle', 'What to do when a container starts and ends.', {
  postStart: pointer(1, LifecycleHandler, 'Done right after the start. If it fails, the container is killed.'),
  preStop: pointer(2, LifecycleHandler, 'Done before the container is told to end.'),
  stopSignal: pointer(3, named('v1.Signal'), 'The signal that tells the container to end.'),
});
export type Lifecycle = Infer<typeof Lifecycle>;

export const Capabilities = object('io.k8s.api.core.v1.Capabilities', 'Linux capabilities to add and to drop.', {
  add: field(1, listOf(named('v1.Capability')), 'Capabilities to add.'),
  drop: field(2, listOf(named('v1.Capability')), 'Capabilities to drop.'),
});
export type Capabilities = Infer<typeof Capabilities>;

export const SELinuxOptions = object('io.k8s.api.core.v1.SELinuxOptions', 'SELinux labels.', {
  user: field(1, string, 'The user label.'),
  role: field(2, string, 'The role label.'),
  type: field(3, string, 'The type label.'),
  level: field(4, string, 'The level label.'),
});
export type SELinuxOptions = Infer<typeof SELinuxOptions>;

export const WindowsSecurityContextOptions = object('io.k8s.api.core.v1.WindowsSecurityContextOptions', 'Security settings for Windows.', {
  gmsaCredentialSpecName: pointer(1, string, 'The name of the GMSA credential spec.'),
  gmsaCredentialSpec: pointer(2, string, 'The GMSA credential spec itself.'),
  runAsUserName: pointer(3, string, 'The user to run as.'),
  hostProcess: pointer(4, bool, 'Whether it runs as a process of the host.'),
});
export type WindowsSecurityContextOptions = Infer<typeof WindowsSecurityContextOptions>;

export const SeccompProfile = union(
  object('io.k8s.api.core.v1.SeccompProfile', 'Which system calls are allowed.', {
    type: required(1, named('v1.SeccompProfileType'), 'Unconfined, RuntimeDefault, or Localhost for a file of the node.'),
    localhostProfile: pointer(2, string, 'The file, for Localhost.'),
  }),
  { discriminator: 'type', fields: ['localhostProfile'] },
);
export type SeccompProfile = Infer<typeof SeccompProfile>;

export const AppArmorProfile = union(
  object('io.k8s.api.core.v1.AppArmorProfile', 'An AppArmor profile.', {
    type: required(1, named('v1.AppArmorProfileType'), 'Unconfined, RuntimeDefault, or Localhost for one loaded on the node.'),
    localhostProfile: pointer(2, string, 'The profile, for Localhost.'),
  }),
  { discriminator: 'type', fields: ['localhostProfile'] },
);
export type AppArmorProfile = Infer<typeof AppArmorProfile>;

export const SecurityContext = object('io.k8s.api.core.v1.SecurityContext', 'Security settings of a container.', {
  capabilities: pointer(1, Capabilities, 'Linux capabilities to add or drop.'),
  privileged: pointer(2, bool, 'If true, processes have the rights of root on the node.'),
  seLinuxOptions: pointer(3, SELinuxOptions, 'SELinux labels of the container.'),
  windowsOptions: pointer(10, WindowsSecurityContextOptions, 'Settings for Windows containers.'),
  runAsUser: pointer(4, int64, "The user id to run as; the image's by default."),
  runAsGroup: pointer(8, int64, 'The group id to run as.'),
  runAsNonRoot: pointer(5, bool, 'If true, the container is not started as root.'),
  readOnlyRootFilesystem: pointer(6, bool, "If true, the image's files cannot be changed."),
  allowPrivilegeEscalation: pointer(7, bool, 'If false, processes cannot gain rights that their parent does not have.'),
  procMount: pointer(9, named('v1.ProcMountType'), 'How /proc is mounted: Default or Unmasked.'),
  seccompProfile: pointer(11, SeccompProfile, 'Which system calls are allowed.'),
  appArmorProfile: pointer(12, AppArmorProfile, 'The AppArmor profile.'),
});
export type SecurityContext = Infer<typeof SecurityContext>;

export const Container = object('io.k8s.api.core.v1.Container', 'One container of a pod.', {
  name: required(1, string, 'The name, unique in the pod.'),
  image: field(2, string, 'The image to run.'),
  command: field(3, listOf(string), "What to run instead of the image's entrypoint. $(VAR) is replaced by a variable."),
  args: field(4, listOf(string), "Arguments instead of the image's command. $(VAR) is replaced by a variable."),
  workingDir: field(5, string, 'The directory to start in.'),
  ports: field(
    6,
    mapListOf(ContainerPort, 'containerPort', 'protocol'),
    'Ports that the container listens on. For information: others are reachable too.',
    { merge: 'containerPort' },
  ),
  envFrom: field(19, listOf(EnvFromSource), 'ConfigMaps and Secrets whose every key becomes a variable.'),
  env: field(7, mapListOf(EnvVar, 'name'), 'Environment variables.', { merge: 'name' }),
  resources: always(8, ResourceRequirements, 'CPU, memory and other things that the container needs and may use.'),
  resizePolicy: field(23, listOf(ContainerResizePolicy), 'Whether the container is restarted when its resources change.'),
  restartPolicy: pointer(
    24,
    named('v1.ContainerRestartPolicy'),
    'When the container is restarted; Always makes an init container a sidecar.',
  ),
  restartPolicyRules: field(25, listOf(ContainerRestartRule), 'Exit codes that override the restart policy.'),
  volumeMounts: field(9, mapListOf(VolumeMount, 'mountPath'), 'Volumes of the pod, and where they appear in the container.', {
    merge: 'mountPath',
  }),
  volumeDevices: field(21, mapListOf(VolumeDevice, 'devicePath'), 'Raw block devices, and where they appear in the container.', {
    merge: 'devicePath',
  }),
  livenessProbe: pointer(10, Probe, 'A check whose failure restarts the container.'),
  readinessProbe: pointer(11, Probe, 'A check whose failure takes the container out of services.'),
  startupProbe: pointer(22, Probe, 'A check that must succeed before the others begin.'),
  lifecycle: pointer(12, Lifecycle, 'What to do right after the start and right before the end.'),
  terminationMessagePath: field(13, string, 'The file whose content is shown as the reason when the container ends.'),
  terminationMessagePolicy: field(
    20,
    named('v1.TerminationMessagePolicy'),
    'File, or FallbackToLogsOnError to take the end of the log when the file is empty.',
  ),
  imagePullPolicy: field(14, named('v1.PullPolicy'), 'Always, IfNotPresent or Never.'),
  securityContext: pointer(15, SecurityContext, 'Security settings of the container; they override those of the pod.'),
  stdin: field(16, bool, "Whether the container's standard input is kept open."),
  stdinOnce: field(17, bool, 'Whether standard input closes after the first client leaves.'),
  tty: field(18, bool, 'Whether the container gets a terminal.'),
});
export type Container = Infer<typeof Container>;

export const EphemeralContainerCommon = object(
  'io.k8s.api.core.v1.EphemeralContainerCommon',
  'A container added to a running pod for debugging; some fields of containers are not allowed.',
  {
    name: required(1, string, 'The name, unique in the pod.'),
    image: field(2, string, 'The image to run.'),
    command: field(3, listOf(string), "What to run instead of the image's entrypoint. $(VAR) is replaced by a variable."),
    args: field(4, listOf(string), "Arguments instead of the image's command. $(VAR) is replaced by a variable."),
    workingDir: field(5, string, 'The directory to start in.'),
    ports: field(6, mapListOf(ContainerPort, 'containerPort', 'protocol'), 'Not allowed.', { merge: 'containerPort' }),
    envFrom: field(19, listOf(EnvFromSource), 'ConfigMaps and Secrets whose every key becomes a variable.'),
    env: field(7, mapListOf(EnvVar, 'name'), 'Environment variables.', { merge: 'name' }),
    resources: always(8, ResourceRequirements, 'Not allowed: it uses what the pod has to spare.'),
    resizePolicy: field(23, listOf(ContainerResizePolicy), 'Not allowed.'),
    restartPolicy: pointer(24, named('v1.ContainerRestartPolicy'), 'Not allowed.'),
    restartPolicyRules: field(25, listOf(ContainerRestartRule), 'Not allowed.'),
    volumeMounts: field(9, mapListOf(VolumeMount, 'mountPath'), 'Volumes of the pod, and where they appear in the container.', {
      merge: 'mountPath',
    }),
    volumeDevices: field(21, mapListOf(VolumeDevice, 'devicePath'), 'Raw block devices, and where they appear in the container.', {
      merge: 'devicePath',
    }),
    livenessProbe: pointer(10, Probe, 'Not allowed.'),
    readinessProbe: pointer(11, Probe, 'Not allowed.'),
    startupProbe: pointer(22, Probe, 'Not allowed.'),
    lifecycle: pointer(12, Lifecycle, 'Not allowed.'),
    terminationMessagePath: field(13, string, 'The file whose content is shown as the reason when the container ends.'),
    terminationMessagePolicy: field(
      20,
      named('v1.TerminationMessagePolicy'),
      'File, or FallbackToLogsOnError to take the end of the log when the file is empty.',
    ),
    imagePullPolicy: field(14, named('v1.PullPolicy'), 'Always, IfNotPresent or Never.'),
    securityContext: pointer(15, SecurityContext, 'Security settings of the container.'),
    stdin: field(16, bool, "Whether the container's standard input is kept open."),
    stdinOnce: field(17, bool, 'Whether standard input closes after the first client leaves.'),
    tty: field(18, bool, 'Whether the container gets a terminal.'),
  },
);
export type EphemeralContainerCommon = Infer<typeof EphemeralContainerCommon>;

export const EphemeralContainer = object(
  'io.k8s.api.core.v1.EphemeralContainer',
  'A container added to a running pod for debugging. It is never restarted.',
  {
    ...inlined(1, EphemeralContainerCommon),
    targetContainerName: field(2, string, 'The container whose processes it sees.'),
  },
);
export type EphemeralContainer = Infer<typeof EphemeralContainer>;

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
  nameservers: field(1, listOf(string), 'Servers to ask.'),
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
  terminationGracePeriodSeconds: pointer(
    4,
    int64,
    'How long containers have to end after they are told to, before they are killed. 30 by default.',
  ),
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
  nodeName: field(10, string, 'The node that the pod runs on. Set by the scheduler; who sets it, does without one.'),
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
    'How pods are to be spread over zones, nodes and the like.',
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
  hostnameOverride: pointer(41, string, 'The host name, whatever hostname and subdomain say.'),
  schedulingGroup: pointer(43, PodSchedulingGroup, 'The group of pods that is scheduled together with this one.'),
});
export type PodSpec = Infer<typeof PodSpec>;
