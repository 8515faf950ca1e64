import { checkDns1123Label, checkPortName, checkPortNumber } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import type { PodSpec } from '../pod/pod-spec.ts';
import { validateSecurityContext } from '../pod/security-context.validation.ts';
import type { ValidVolumes } from '../volume/volume.validation.ts';
import { validatePullPolicy } from '../volume/volume-source.validation.ts';
import type { Container, ContainerPort, ContainerResizePolicy, ContainerRestartRule, EphemeralContainer } from './container.ts';
import { validateEnv, validateEnvFrom } from './container-env.validation.ts';
import { validateLifecycle, validateProbes } from './probe.validation.ts';
import { validateContainerResources } from './resource-requirements.validation.ts';
import { validateVolumeDevices, validateVolumeMounts } from './volume-mount.validation.ts';

/** The pod of the validated containers. */
export interface PodContext {
  readonly spec: PodSpec;
  readonly volumes: ValidVolumes;
  readonly claimNames: ReadonlySet<string>;
  readonly hostUsers: boolean;
}

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;
const RULES_NEED_POLICY = 'must specify restartPolicy when restart rules are used';

export function validateContainers(containers: readonly Container[], at: FieldReport, context: PodContext): void {
  if (containers.length === 0) at.required();
  const names = new Set<string>();
  containers.forEach((container, i) => {
    const field = at.index(i);
    validateContainer(container, field, context);
    if (names.has(container.name)) field.child('name').duplicate(container.name);
    names.add(container.name);
    validateRunning(container, field, context);
    validateRestartRules(container, field);
  });
  validateHostPorts(containers, at);
}

function validateRunning(container: Container, at: FieldReport, { spec }: PodContext): void {
  if (container.lifecycle) validateLifecycle(container.lifecycle, at.child('lifecycle'), spec.terminationGracePeriodSeconds);
  validateProbes(container, at);
}

export function validateInitContainers(containers: readonly Container[], at: FieldReport, context: PodContext): void {
  const names = new Set((context.spec.containers ?? []).map(({ name }) => name));
  containers.forEach((container, i) => {
    const field = at.index(i);
    validateContainer(container, field, context);
    if (container.restartPolicy !== undefined) validateRestartRules(container, field);
    else if (container.restartPolicyRules?.length) field.child('restartPolicy').required(RULES_NEED_POLICY);
    if (names.has(container.name)) field.child('name').duplicate(container.name);
    else if (container.name) names.add(container.name);
    validateHostPorts([container], at);
    if (container.restartPolicy === 'Always') validateRunning(container, field, context);
    else validateRunsOnce(container, field);
  });
}

const RUNNING_ONLY = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function validateRunsOnce(container: Container, at: FieldReport): void {
  for (const name of RUNNING_ONLY) {
    if (container[name]) at.child(name).forbidden('may not be set for init containers without restartPolicy=Always');
  }
  container.resizePolicy?.forEach(({ restartPolicy }, i) => {
    if (restartPolicy !== 'RestartContainer') return;
    const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    at.child('resizePolicy').index(i).child('restartPolicy').invalid(restartPolicy, detail);
  });
}

// In the order of upstream's struct.
const NOT_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

export function validateEphemeralContainers(containers: readonly EphemeralContainer[], at: FieldReport, context: PodContext): void {
  const { spec } = context;
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(others);
  containers.forEach((container, i) => {
    const field = at.index(i);
    const name = container.name ?? '';
    validateContainer(container as Container, field, context);
    validateImageText(container.image, field);
    if (names.has(name)) field.child('name').duplicate(name);
    names.add(name);
    const target = container.targetContainerName;
    if (target && !others.has(target)) field.child('targetContainerName').notFound(target);
    validateEphemeralFields(container, field);
  });
}

function validateEphemeralFields(container: EphemeralContainer, at: FieldReport): void {
  const addError = (field: FieldReport) => field.forbidden('cannot be set for an Ephemeral Container');
  for (const name of NOT_EPHEMERAL) if (isSet(name, container[name])) addError(at.child(name));
  container.volumeMounts?.forEach(({ subPath, subPathExpr }, i) => {
    if (subPath) addError(at.child('volumeMounts').index(i).child('subPath'));
    if (subPathExpr) addError(at.child('volumeMounts').index(i).child('subPathExpr'));
  });
}

/** Resources are not a pointer upstream: empty ones count as unset. */
function isSet(name: (typeof NOT_EPHEMERAL)[number], value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return name === 'resources' ? Object.keys(value ?? {}).length > 0 : value !== undefined;
}

/** Only images of pods are validated; those of templates may be changed before pods are created. */
export function validateImageText(image: string | undefined, at: FieldReport): void {
  if (image && image.trim() !== image) at.child('image').invalid(image, 'must not have leading or trailing whitespace');
}

function validateContainer(container: Container, at: FieldReport, context: PodContext): void {
  const { name, image, terminationMessagePolicy: messages, resources, securityContext } = container;
  if (!name) at.child('name').required();
  else at.child('name').problems(name, checkDns1123Label(name));
  if (!image) at.child('image').required();
  if (!messages) at.child('terminationMessagePolicy').required();
  else at.child('terminationMessagePolicy').oneOf(messages, MESSAGE_POLICIES);
  if (container.ports) validatePorts(container.ports, at.child('ports'));
  if (container.env) validateEnv(container.env, at.child('env'));
  if (container.envFrom) validateEnvFrom(container.envFrom, at.child('envFrom'));
  validateStorage(container, at, context.volumes);
  validatePullPolicy(container.imagePullPolicy, at.child('imagePullPolicy'));
  if (resources) validateContainerResources(resources, at.child('resources'), context.claimNames);
  if (container.resizePolicy) validateResizePolicy(container.resizePolicy, at.child('resizePolicy'), context.spec);
  if (securityContext) validateSecurityContext(securityContext, at.child('securityContext'), context);
}

function validateStorage({ volumeMounts, volumeDevices, securityContext }: Container, at: FieldReport, volumes: ValidVolumes): void {
  if (!volumeMounts && !volumeDevices) return;
  const context = {
    volumes,
    volumeMounts: volumeMounts ?? [],
    volumeDevices: volumeDevices ?? [],
    ...(securityContext && { securityContext }),
  };
  validateVolumeMounts(context.volumeMounts, at.child('volumeMounts'), context);
  validateVolumeDevices(context.volumeDevices, at.child('volumeDevices'), context);
}

function validatePorts(ports: readonly ContainerPort[], at: FieldReport): void {
  const names = new Set<string>();
  ports.forEach(({ name, containerPort, hostPort, protocol }, i) => {
    const field = at.index(i);
    if (name) validatePortName(name, field.child('name'), names);
    if (!containerPort) field.child('containerPort').required();
    else field.child('containerPort').problems(containerPort, checkPortNumber(containerPort));
    if (hostPort) field.child('hostPort').problems(hostPort, checkPortNumber(hostPort));
    if (!protocol) field.child('protocol').required();
    else field.child('protocol').oneOf(protocol, PROTOCOLS);
  });
}

function validatePortName(name: string, at: FieldReport, names: Set<string>): void {
  const problems = checkPortName(name);
  if (problems.length > 0) at.problems(name, problems);
  else if (names.has(name)) at.duplicate(name);
  else names.add(name);
}

function validateHostPorts(containers: readonly Container[], at: FieldReport): void {
  const volumeNames = new Set<string>();
  containers.forEach(({ ports = [] }, i) => {
    ports.forEach(({ hostPort, hostIP = '', protocol = '' }, j) => {
      if (!hostPort) return;
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (volumeNames.has(port)) at.index(i).child('ports').index(j).child('hostPort').duplicate(port);
      volumeNames.add(port);
    });
  });
}

function validateResizePolicy(policies: readonly ContainerResizePolicy[], at: FieldReport, { restartPolicy: podPolicy }: PodSpec): void {
  const resources = new Set<string>();
  policies.forEach(({ resourceName = '', restartPolicy = '' }, i) => {
    if (resources.has(resourceName)) at.index(i).duplicate(resourceName);
    resources.add(resourceName);
    if (!resourceName) at.required();
    else at.oneOf(resourceName, ['cpu', 'memory']);
    if (!restartPolicy) at.required();
    else at.oneOf(restartPolicy, ['NotRequired', 'RestartContainer']);
    if (podPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      at.invalid(restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  });
}

function validateRestartRules({ restartPolicy, restartPolicyRules: rules = [] }: Container, at: FieldReport): void {
  if (restartPolicy === undefined) {
    if (rules.length === 0) return;
    at.child('restartPolicy').required(RULES_NEED_POLICY);
  } else at.child('restartPolicy').oneOf(restartPolicy, RESTART_POLICIES);
  if (rules.length > MAX_RESTART_RULES) at.child('restartPolicyRules').tooMany(rules.length, MAX_RESTART_RULES);
  rules.forEach((rule, i) => {
    validateRestartRule(rule, at.child('restartPolicyRules').index(i));
  });
}

function validateRestartRule({ action, exitCodes }: ContainerRestartRule, at: FieldReport): void {
  at.child('action').oneOf(action, ['Restart', 'RestartAllContainers']);
  if (!exitCodes) {
    at.child('exitCodes').required('must be specified');
    return;
  }
  const { operator, values = [] } = exitCodes;
  at.child('exitCodes').child('operator').oneOf(operator, ['In', 'NotIn']);
  if (values.length > MAX_EXIT_CODES) at.child('exitCodes').child('values').tooMany(values.length, MAX_EXIT_CODES);
}
