import { lookupTable, pushAll } from '#base';
import { checkLabelValue, goQuote, oncePerValue, Path, Quantity, recurs } from '#machinery';
import { ipWarnings } from '../../../ip.validation.ts';
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import type { Container } from '../container/container.ts';
import type { EnvVar } from '../container/env-var.ts';
import { deprecatedNodeLabel } from '../node/node-label.warnings.ts';
import type { NodeSelectorTerm } from '../node-selector/node-selector-term.ts';
import { claimSpecWarnings } from '../persistent-volume-claim/persistent-volume-claim.warnings.ts';
import type { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';
import type { Volume } from '../volume/volume.ts';
import { overlappingPathWarnings } from '../volume/volume-paths.warnings.ts';
import type { PodAffinity } from './affinity.ts';
import type { Pod } from './pod.ts';
import { podNameWarnings } from './pod.validation.ts';
import { APPARMOR_CONTAINER_PREFIX, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD_ANNOTATION } from './pod-annotations.ts';
import { type PlacedContainer, portWarnings } from './pod-ports.warnings.ts';
import type { PodSpec } from './pod-spec.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const NULL_SELECTOR = 'a null labelSelector results in matching no pod';

const DEPRECATED_ANNOTATIONS = lookupTable<string>({
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
});

const DEPRECATED_VOLUMES: readonly { readonly source: keyof Volume; readonly name?: string; readonly message: string }[] = [
  { source: 'photonPersistentDisk', message: 'deprecated in v1.11, non-functional in v1.16+' },
  { source: 'gitRepo', message: 'deprecated in v1.11, and disabled by default in v1.33+' },
  { source: 'scaleIO', message: 'deprecated in v1.16, non-functional in v1.22+' },
  { source: 'flocker', message: 'deprecated in v1.22, non-functional in v1.25+' },
  { source: 'storageos', name: 'storageOS', message: 'deprecated in v1.22, non-functional in v1.25+' },
  { source: 'quobyte', message: 'deprecated in v1.22, non-functional in v1.25+' },
  { source: 'glusterfs', message: 'deprecated in v1.25, non-functional in v1.26+' },
  { source: 'ephemeral', message: '' },
  { source: 'cephfs', message: 'deprecated in v1.28, non-functional in v1.31+' },
  { source: 'rbd', message: 'deprecated in v1.28, non-functional in v1.31+' },
];

/** Warnings about a new pod; updates have none. */
export function podWarnings(pod: Pod, old?: Pod): readonly string[] {
  if (old) return [];
  const { metadata, spec = {} as PodSpec } = pod;
  const subject = { spec, metadata, path: Path.none };
  const isHarmless = recurs(spec) && !warnsInEveryPod(spec);
  return [
    ...podNameWarnings(metadata.name),
    ...(isHarmless ? [...annotationWarnings(metadata, Path.none), ...profileWarnings(subject)] : specWarnings(subject)),
  ];
}

/** Checked before conversion: the annotations are then replaced by fields. */
export function incomingPodWarnings({ metadata, spec = {} as PodSpec }: Pod): readonly string[] {
  const subject = { spec, metadata, path: Path.none };
  if (spec.os?.name === 'windows' || !hasAnnotation(metadata, APPARMOR_CONTAINER_PREFIX)) return [];
  return containersWithPath(spec, Path.none).flatMap(({ container }) => appArmorWarnings(container, subject));
}

/** Whether a spec causes warnings regardless of the pod's metadata. */
const warnsInEveryPod = oncePerValue((spec: PodSpec) => specWarnings({ spec, metadata: {}, path: Path.none }).length > 0);

export function podTemplateWarnings(template: PodTemplateSpec | undefined, path: Path): readonly string[] {
  if (!template) return [];
  const { metadata = {}, spec = {} as PodSpec } = template;
  return specWarnings({ spec, metadata, path, isTemplate: true });
}

interface Subject {
  readonly spec: PodSpec;
  readonly metadata: ObjectMeta;
  readonly path: Path;
  readonly isTemplate?: boolean;
}

function specWarnings(subject: Subject): readonly string[] {
  const { spec, metadata, path } = subject;
  const at = path.child('spec');
  const containers = containersWithPath(spec, at);
  return [
    ...schedulingWarnings(spec, at),
    ...annotationWarnings(metadata, path),
    ...(spec.volumes ? volumeWarnings(spec.volumes, at) : []),
    ...duplicateWarnings(spec, at),
    ...fractionWarnings(spec.overhead, at.child('overhead')),
    ...podSeccompWarnings(subject),
    ...containers.flatMap((placed) => containerWarnings(placed, subject)),
    ...portWarnings(containers),
    ...graceWarnings(spec, at),
    ...affinityWarnings(spec.affinity?.podAffinity, at.child('affinity', 'podAffinity')),
    ...affinityWarnings(spec.affinity?.podAntiAffinity, at.child('affinity', 'podAntiAffinity')),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((server, i) => ipWarnings(at.child('dnsConfig', 'nameservers').index(i), server)),
    ...(spec.hostAliases ?? []).flatMap(({ ip }, i) => ipWarnings(at.child('hostAliases').index(i).child('ip'), ip)),
  ];
}

/** Init containers, containers and ephemeral containers, in this order. */
function containersWithPath(spec: PodSpec, at: Path): readonly PlacedContainer[] {
  const placed: PlacedContainer[] = [];
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    const containers = spec[list] as readonly Container[] | undefined;
    containers?.forEach((container, i) => {
      placed.push({ container, path: at.child(list).index(i) });
    });
  }
  return placed;
}

function schedulingWarnings(spec: PodSpec, at: Path): readonly string[] {
  const warnings: string[] = [];
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const message = deprecatedNodeLabel(key);
    if (message) warnings.push(`${at.child('nodeSelector').key(key)}: ${message}`);
  }
  const nodes = spec.affinity?.nodeAffinity;
  const affinity = at.child('affinity', 'nodeAffinity');
  nodes?.[REQUIRED]?.nodeSelectorTerms?.forEach((term, i) => {
    pushAll(warnings, termWarnings(term, affinity.child(REQUIRED, 'nodeSelectorTerms').index(i)));
  });
  nodes?.[PREFERRED]?.forEach(({ preference }, i) => {
    const field = affinity.child(PREFERRED).index(i).child('preference');
    pushAll(warnings, termWarnings(preference ?? {}, field, { checkValues: true }));
  });
  spec.topologySpreadConstraints?.forEach(({ topologyKey, labelSelector }, i) => {
    const field = at.child('topologySpreadConstraints').index(i);
    const message = deprecatedNodeLabel(topologyKey);
    if (message) warnings.push(`${field.child('topologyKey')}: ${topologyKey} is ${message}`);
    if (!labelSelector) warnings.push(`${field.child('labelSelector')}: ${NULL_SELECTOR}`);
  });
  return warnings;
}

function termWarnings({ matchExpressions = [] }: NodeSelectorTerm, at: Path, { checkValues = false } = {}): readonly string[] {
  return matchExpressions.flatMap(({ key, values = [] }, i) => {
    const field = at.child('matchExpressions').index(i);
    const message = deprecatedNodeLabel(key);
    const deprecated = message ? [`${field.child('key')}: ${key} is ${message}`] : [];
    if (!checkValues) return deprecated;
    const invalid = values.flatMap((value, j) =>
      checkLabelValue(value).map((problem) => `${field.child('values').index(j)}: ${value} is invalid, ${problem}`),
    );
    return [...deprecated, ...invalid];
  });
}

function annotationWarnings({ annotations }: ObjectMeta, path: Path): readonly string[] {
  const warnings: string[] = [];
  if (!annotations) return warnings;
  for (const key in DEPRECATED_ANNOTATIONS) {
    if (annotations[key] !== undefined) warnings.push(`${path.child('metadata', 'annotations').key(key)}: ${DEPRECATED_ANNOTATIONS[key]}`);
  }
  return warnings;
}

function volumeWarnings(volumes: readonly Volume[], at: Path): readonly string[] {
  const deprecated = volumes.flatMap((volume, i) =>
    DEPRECATED_VOLUMES.flatMap(({ source, name = source, message }) => {
      if (!volume[source]) return [];
      const field = at.child('volumes').index(i).child(name);
      return source === 'ephemeral' ? claimWarnings(volume, field) : [`${field}: ${message}`];
    }),
  );
  return [...deprecated, ...overlappingPathWarnings(volumes)];
}

function claimWarnings({ ephemeral }: Volume, at: Path): readonly string[] {
  const template = ephemeral?.volumeClaimTemplate;
  return template ? claimSpecWarnings(template.spec ?? {}, at.child('volumeClaimTemplate', 'spec')) : [];
}

function duplicateWarnings({ hostAliases = [], imagePullSecrets = [] }: PodSpec, at: Path): readonly string[] {
  const warnings: string[] = [];
  const ips = new Set<string>();
  hostAliases.forEach(({ ip }, i) => {
    if (ips.has(ip)) warnings.push(`${at.child('hostAliases').index(i).child('ip')}: duplicate ip ${goQuote(ip)}`);
    ips.add(ip);
  });
  const names = new Set<string>();
  imagePullSecrets.forEach(({ name = '' }, i) => {
    if (names.has(name)) warnings.push(`${at.child('imagePullSecrets').index(i).child('name')}: duplicate name ${goQuote(name)}`);
    names.add(name);
  });
  imagePullSecrets.forEach(({ name = '' }, i) => {
    if (!name) warnings.push(`${at.child('imagePullSecrets').index(i).child('name')}: invalid empty name ""`);
  });
  return warnings;
}

type Amounts = Readonly<Record<string, string>> | undefined;

/** Fractions of a byte are meaningless. */
function fractionWarnings(amounts: Amounts, at: Path): readonly string[] {
  if (!amounts) return [];
  return ['memory', 'ephemeral-storage'].flatMap((name) => fractionWarning(amounts, name, at));
}

function fractionWarning(amounts: Amounts, name: string, at: Path): readonly string[] {
  const text = amounts?.[name];
  if (text === undefined) return [];
  const quantity = Quantity.parse(text);
  if (quantity.roundUp(-3).isMultipleOf(0)) return [];
  return [`${at.key(name)}: fractional byte value ${goQuote(quantity.toString())} is invalid, must be an integer`];
}

function hasAnnotation({ annotations }: ObjectMeta, prefix: string): boolean {
  for (const key in annotations) if (key.startsWith(prefix)) return true;
  return false;
}

function seccompWarning({ path }: Subject, key: string): string {
  return `${path.child('metadata', 'annotations').key(key)}: non-functional in v1.27+; use the "seccompProfile" field instead`;
}

function podSeccompWarnings(subject: Subject): readonly string[] {
  const { spec, metadata } = subject;
  if (metadata.annotations?.[SECCOMP_POD_ANNOTATION] === undefined || spec.securityContext?.seccompProfile) return [];
  return [seccompWarning(subject, SECCOMP_POD_ANNOTATION)];
}

/** Annotations that name profiles. */
function profileWarnings(subject: Subject): readonly string[] {
  const { spec, metadata, path } = subject;
  if (!metadata.annotations) return [];
  const ofContainers = containersWithPath(spec, path).flatMap(({ container }) => containerProfileWarnings(container, subject));
  return [...podSeccompWarnings(subject), ...ofContainers];
}

function containerProfileWarnings(container: Container, subject: Subject): readonly string[] {
  const key = SECCOMP_CONTAINER_PREFIX + container.name;
  const isUnused = subject.metadata.annotations?.[key] !== undefined && !container.securityContext?.seccompProfile;
  return [...(isUnused ? [seccompWarning(subject, key)] : []), ...(subject.isTemplate ? appArmorWarnings(container, subject) : [])];
}

/** Profile annotations still work through the fields that replaced them. */
function appArmorWarnings({ name, securityContext }: Container, { spec, metadata, path }: Subject): readonly string[] {
  const key = APPARMOR_CONTAINER_PREFIX + name;
  const annotation = metadata.annotations?.[key];
  if (annotation === undefined || securityContext?.appArmorProfile) return [];
  if (annotation === profileAnnotation(spec.securityContext?.appArmorProfile)) return [];
  return [`${path.child('metadata', 'annotations').key(key)}: deprecated since v1.30; use the "appArmorProfile" field instead`];
}

function profileAnnotation(profile: { readonly type: string; readonly localhostProfile?: string } | undefined): string | undefined {
  if (profile?.type === 'Localhost') return `localhost/${profile.localhostProfile}`;
  if (profile?.type === 'RuntimeDefault') return 'runtime/default';
  return profile?.type === 'Unconfined' ? 'unconfined' : undefined;
}

function containerWarnings({ container, path: at }: PlacedContainer, subject: Subject): readonly string[] {
  const { env } = container;
  const warnings = [
    ...(subject.metadata.annotations ? containerProfileWarnings(container, subject) : []),
    ...amountWarnings(container, at),
  ];
  return env && env.length > 1 ? [...warnings, ...hiddenVariables(env, at.child('env'))] : warnings;
}

function amountWarnings({ resources }: Container, at: Path): readonly string[] {
  const { limits, requests } = resources ?? {};
  return ['memory', 'ephemeral-storage'].flatMap((name) => [
    ...fractionWarning(limits, name, at.child('resources', 'limits')),
    ...fractionWarning(requests, name, at.child('resources', 'requests')),
  ]);
}

function hiddenVariables(variables: readonly EnvVar[], at: Path): readonly string[] {
  const seen = new Set<string>();
  return variables.flatMap((variable, i) => {
    const { name } = variable;
    const isHiding = seen.has(name) && !extendsItself(variable);
    seen.add(name);
    return isHiding ? [`${at.index(i)}: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`] : [];
  });
}

/** `PATH=$(PATH):/more` refers to the previous value. */
function extendsItself({ name, value = '', valueFrom }: EnvVar): boolean {
  const reference = `$(${name})`;
  return !valueFrom && value !== reference && value.includes(reference);
}

function graceWarnings({ terminationGracePeriodSeconds: seconds }: PodSpec, at: Path): readonly string[] {
  if (seconds === undefined || seconds >= 0) return [];
  return [`${at.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`];
}

function affinityWarnings(affinity: PodAffinity | undefined, at: Path): readonly string[] {
  const required = (affinity?.[REQUIRED] ?? []).flatMap(({ labelSelector }, i) =>
    labelSelector ? [] : [`${at.child(REQUIRED).index(i).child('labelSelector')}: ${NULL_SELECTOR}`],
  );
  const preferred = (affinity?.[PREFERRED] ?? []).flatMap(({ podAffinityTerm }, i) =>
    podAffinityTerm?.labelSelector ? [] : [`${at.child(PREFERRED).index(i).child('podAffinityTerm', 'labelSelector')}: ${NULL_SELECTOR}`],
  );
  return [...required, ...preferred];
}
