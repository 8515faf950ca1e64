import {
  always,
  bool,
  field,
  type Infer,
  inlined,
  int32,
  listOf,
  mapListOf,
  named,
  object,
  pointer,
  required,
  setOf,
  string,
} from '../../../schema.ts';
import { EnvFromSource, EnvVar } from './env-var.ts';
import { Lifecycle, Probe } from './probe.ts';
import { ResourceRequirements } from './resource-requirements.ts';
import { SecurityContext } from './security-context.ts';

export const ContainerPort = object('io.k8s.api.core.v1.ContainerPort', 'A port that a container listens on.', {
  name: field(1, string, 'A name for the port, which services can refer to.'),
  hostPort: field(2, int32, 'The port on the node; must be free there.'),
  containerPort: required(3, int32, 'The port of the container.'),
  protocol: field(4, named('v1.Protocol'), 'TCP, UDP or SCTP; TCP by default.', { default: 'TCP' }),
  hostIP: field(5, string, 'The address of the node to bind hostPort to.'),
});
export type ContainerPort = Infer<typeof ContainerPort>;

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
  mountPropagation: pointer(5, named('v1.MountPropagationMode'), 'How later mounts propagate: None, HostToContainer or Bidirectional.'),
  subPathExpr: field(6, string, 'As subPath, with $(VAR) replaced by variables.'),
});
export type VolumeMount = Infer<typeof VolumeMount>;

export const VolumeDevice = object('io.k8s.api.core.v1.VolumeDevice', 'A raw block device in a container.', {
  name: required(1, string, "The claim's volume, by its name in the pod."),
  devicePath: required(2, string, 'The path of the device in the container.'),
});
export type VolumeDevice = Infer<typeof VolumeDevice>;

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
