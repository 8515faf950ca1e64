import { diffText, FieldError, goQuote, inclusiveRangeText, type JsonValue, Path, semanticEqual } from '#machinery';
import { sameValue } from '../../../field-checks.ts';
import { FieldReport } from '../../../field-report.ts';
import { goMap, goStruct } from '../../../go-struct.ts';
import { METADATA, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import { type Container, EphemeralContainer } from '../container/container.ts';
import { NodeSelectorTerm } from '../node-selector/node-selector-term.ts';
import type { NodeAffinity } from './affinity.ts';
import type { Pod } from './pod.ts';
import { SPEC, validateMetadataAndSpec } from './pod.validation.ts';
import { MIRROR_POD_ANNOTATION } from './pod-annotations.ts';
import { validatePodAnnotationUpdate } from './pod-annotations.validation.ts';
import { internalPodSpec } from './pod-spec.internal.ts';
import { type PodSchedulingGate, PodSpec } from './pod-spec.ts';
import type { Toleration } from './toleration.ts';
import { validateTolerations } from './toleration.validation.ts';

const MAX_INT32 = 2 ** 31 - 1;
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const EMPTY_SPEC = {} as PodSpec;
const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  const report = startUpdate(pod, old);
  validateAnnotationUpdate(pod, old, report);
  validateSpecUpdate(pod.spec ?? EMPTY_SPEC, old.spec ?? EMPTY_SPEC, report);
  return report.errors;
}

/** Errors common to all pod updates; reported on the spec. */
export function startUpdate(pod: Pod, old: Pod): FieldReport {
  const report = FieldReport.on(SPEC, validateObjectMetaUpdate(pod.metadata, old.metadata));
  validateMetadataAndSpec(pod, report);
  return report;
}

export function validateAnnotationUpdate(pod: Pod, old: Pod, { errors }: FieldReport): void {
  const at = FieldReport.on(METADATA, errors).child('annotations');
  validatePodAnnotationUpdate(pod.metadata ?? {}, old.metadata ?? {}, { at, spec: pod.spec ?? EMPTY_SPEC });
}

function validateSpecUpdate(spec: PodSpec, old: PodSpec, at: FieldReport): void {
  if (!validateContainerUpdates(spec.containers, at.child('containers'), old.containers)) return;
  if (!validateContainerUpdates(spec.initContainers, at.child('initContainers'), old.initContainers)) return;
  if (!validateDeadlineUpdate(spec, old, at.child('activeDeadlineSeconds'))) return;
  validateAddedTolerations(spec.tolerations ?? [], at.child('tolerations'), old.tolerations ?? []);
  validateDeletedGates(spec.schedulingGates ?? [], at.child('schedulingGates'), old.schedulingGates ?? []);
  if (samePodSpec(spec, old)) return;
  const expected = withGatedScheduling(withUpdatableFields(spec, old), old, at);
  if (samePodSpec(expected, old)) return;
  const diff = diffText(internalPodSpec(old), internalPodSpec(expected));
  at.forbidden(`pod updates may not change fields other than ${UPDATABLE}\n${diff}`);
}

/** Whether two specs are semantically equal. */
export function samePodSpec(a: PodSpec | undefined, b: PodSpec | undefined): boolean {
  return semanticEqual(a as JsonValue | undefined, b as JsonValue | undefined, PodSpec);
}

/** False if further validation is pointless. */
function validateContainerUpdates(
  containers: readonly Container[] | undefined | null,
  at: FieldReport,
  old: readonly Container[] | undefined | null,
): boolean {
  if ((containers?.length ?? 0) !== (old?.length ?? 0)) {
    at.forbidden('pod updates may not add or remove containers');
    return false;
  }
  containers?.forEach(({ image }, i) => {
    if (!image) at.index(i).child('image').required();
    else if (image.trim() !== image) at.index(i).child('image').invalid(image, 'must not have leading or trailing whitespace');
  });
  return true;
}

function validateDeadlineUpdate({ activeDeadlineSeconds: deadline }: PodSpec, old: PodSpec, at: FieldReport): boolean {
  const before = old.activeDeadlineSeconds;
  if (deadline === undefined) {
    if (before !== undefined) at.invalid(null, 'must not update from a positive integer to nil value');
    return true;
  }
  if (deadline < 0 || deadline > MAX_INT32) at.invalid(deadline, inclusiveRangeText(0, MAX_INT32));
  else if (before !== undefined && before < deadline) at.invalid(deadline, 'must be less than or equal to previous value');
  else return true;
  return false;
}

function validateAddedTolerations(tolerations: readonly Toleration[], at: FieldReport, old: readonly Toleration[]): void {
  const isKept = (before: Toleration) => tolerations.some((toleration) => sameToleration(toleration, before));
  if (!old.every(isKept)) {
    at.forbidden('existing toleration can not be modified except its tolerationSeconds');
    return;
  }
  validateTolerations(tolerations, at);
}

function sameToleration(a: Toleration, b: Toleration): boolean {
  return (['key', 'operator', 'value', 'effect'] as const).every((field) => (a[field] ?? '') === (b[field] ?? ''));
}

function validateDeletedGates(gates: readonly PodSchedulingGate[], at: FieldReport, old: readonly PodSchedulingGate[]): void {
  const before = new Set(old.map(({ name }) => name));
  gates.forEach(({ name }, i) => {
    if (before.has(name)) return;
    at.index(i).child('name').forbidden(`only deletion is allowed, but found new scheduling gate '${name}'`);
  });
}

/** The new spec with all mutable fields reset to their old values: any remaining difference is forbidden. */
function withUpdatableFields(spec: PodSpec, old: PodSpec): PodSpec {
  const grace = old.terminationGracePeriodSeconds;
  const mayFixGrace = grace !== undefined && grace < 0 && spec.terminationGracePeriodSeconds === 1;
  return {
    ...without(spec, 'activeDeadlineSeconds', 'schedulingGates', 'tolerations'),
    ...pickDefined(old, 'activeDeadlineSeconds', 'schedulingGates', 'tolerations'),
    containers: withOldImages(spec.containers, old.containers),
    ...(spec.initContainers && { initContainers: withOldImages(spec.initContainers, old.initContainers) }),
    ...(mayFixGrace && { terminationGracePeriodSeconds: grace }),
  };
}

function withOldImages(containers: readonly Container[] | null, old: readonly Container[] | undefined | null): Container[] {
  return (containers ?? []).map((container, i) => {
    const image = old?.[i]?.image;
    return { ...without(container, 'image'), ...(image !== undefined && { image }) };
  });
}

function without<T extends object>(object: T, ...keys: readonly (keyof T)[]): T {
  const rest = { ...object };
  for (const key of keys) delete rest[key];
  return rest;
}

function pickDefined<T extends object>(object: T, ...keys: readonly (keyof T)[]): Partial<T> {
  const subset: Partial<T> = {};
  for (const key of keys) if (object[key] !== undefined) subset[key] = object[key];
  return subset;
}

/** Pods with scheduling gates may be restricted to fewer nodes. */
function withGatedScheduling(spec: PodSpec, old: PodSpec, at: FieldReport): PodSpec {
  if (!old.schedulingGates?.length) return spec;
  let result = spec;
  if (!sameValue(spec.nodeSelector, old.nodeSelector)) {
    validateNodeSelectorMutation(spec.nodeSelector, at.child('nodeSelector'), old.nodeSelector ?? {});
    result = { ...without(result, 'nodeSelector'), ...pickDefined(old, 'nodeSelector') };
  }
  const before = old.affinity?.nodeAffinity;
  if (sameValue(spec.affinity?.nodeAffinity, before)) return result;
  validateNodeAffinityMutation(spec.affinity?.nodeAffinity, at.child('affinity').child('nodeAffinity'), before);
  return withOldNodeAffinity(result, old);
}

function withOldNodeAffinity(spec: PodSpec, old: PodSpec): PodSpec {
  const before = old.affinity?.nodeAffinity;
  const { affinity } = spec;
  if (!affinity) return before ? { ...spec, affinity: { nodeAffinity: before } } : spec;
  if (!old.affinity && !affinity.podAffinity && !affinity.podAntiAffinity) return without(spec, 'affinity');
  return { ...spec, affinity: { ...without(affinity, 'nodeAffinity'), ...(before && { nodeAffinity: before }) } };
}

type Labels = Readonly<Record<string, string>>;

function validateNodeSelectorMutation(selector: Labels | undefined, at: FieldReport, old: Labels): void {
  if (Object.keys(old).every((key) => selector?.[key] === old[key])) return;
  at.invalid(goMap(selector), 'only additions to spec.nodeSelector are allowed (no mutations or deletions)');
}

export function validateNodeAffinityMutation(affinity: NodeAffinity | undefined, at: FieldReport, old: NodeAffinity | undefined): void {
  const oldTerms = old?.[REQUIRED]?.nodeSelectorTerms ?? [];
  if (!old?.[REQUIRED]) return;
  const terms = affinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const field = at.child(REQUIRED).child('nodeSelectorTerms');
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    const printed = affinity?.[REQUIRED] ? terms.map((term) => goStruct(NodeSelectorTerm, term)) : null;
    field.invalid(printed, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
    return;
  }
  oldTerms.forEach((oldTerm, i) => {
    const term = terms[i] ?? {};
    if (onlyAdds(term, oldTerm)) return;
    field.index(i).invalid(goStruct(NodeSelectorTerm, term), 'only additions are allowed (no mutations or deletions)');
  });
}

function onlyAdds(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  if (lists.every((list) => !old[list]?.length)) return lists.every((list) => !term[list]?.length);
  return lists.every((list) => {
    const before = old[list] ?? [];
    return sameValue((term[list] ?? []).slice(0, before.length), before);
  });
}

/** Ephemeral containers may be added, but not changed or removed. */
export function validateEphemeralContainersUpdate(pod: Pod, old: Pod): FieldError[] {
  const report = startUpdate(pod, old);
  validateAnnotationUpdate(pod, old, report);
  if (old.metadata?.annotations?.[MIRROR_POD_ANNOTATION] !== undefined) {
    return [FieldError.forbidden(Path.of(''), 'static pods do not support ephemeral containers')];
  }
  const at = report.child('ephemeralContainers');
  const present = new Map(pod.spec?.ephemeralContainers?.map((container) => [container.name, container]));
  for (const before of old.spec?.ephemeralContainers ?? []) {
    const now = present.get(before.name);
    const name = goQuote(before.name ?? '');
    if (!now) at.forbidden(`existing ephemeral containers ${name} may not be removed\n`);
    else if (!sameValue(now, before)) {
      const diff = diffText(goStruct(EphemeralContainer, before), goStruct(EphemeralContainer, now));
      at.forbidden(`existing ephemeral containers ${name} may not be changed\n${diff}`);
    }
  }
  return report.errors;
}
