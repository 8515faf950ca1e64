import { checkDns1123Label, type FieldError, type JsonValue, nameIsDnsSubdomain, Path, semanticEqual } from '#machinery';
import type { Container } from '../../core/v1/container/container.ts';
import type { Affinity } from '../../core/v1/pod/affinity.ts';
import { internalPodSpec, internalPodTemplate } from '../../core/v1/pod/pod-spec.internal.ts';
import type { PodSpec } from '../../core/v1/pod/pod-spec.ts';
import { samePodSpec } from '../../core/v1/pod/pod-update.validation.ts';
import { PodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.ts';
import { validateTemplateLabels, workloadSelector } from '../../core/v1/pod-template/workload-template.validation.ts';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goMap, goStruct } from '../../go-struct.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { FIELD_IS_IMMUTABLE, METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { Job } from './job.ts';
import { type JobSpec, PodFailurePolicy, SuccessPolicy } from './job-spec.ts';
import { validateJobSpec } from './job-spec.validation.ts';

const SPEC = Path.of('spec');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;
const EMPTY_SPEC = {} as JobSpec;

export const LEGACY_CONTROLLER_UID_LABEL = 'controller-uid';
export const LEGACY_JOB_NAME_LABEL = 'job-name';
export const CONTROLLER_UID_LABEL = 'batch.kubernetes.io/controller-uid';
export const JOB_NAME_LABEL = 'batch.kubernetes.io/job-name';

export function validateJob(job: Job): FieldError[] {
  return validateWhole(job, { requirePrefixedLabels: true });
}

function validateWhole(job: Job, { requirePrefixedLabels }: { readonly requirePrefixedLabels: boolean }): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMeta(job.metadata, META_RULES));
  const spec = job.spec ?? EMPTY_SPEC;
  if (!spec.manualSelector && spec.selector) validateGeneratedSelector(job, at, requirePrefixedLabels);
  validateSpecAndSelector(spec, at);
  validateHostnames(job, at);
  return at.errors;
}

/** Jobs select their pods by their own uid, in labels set by the server. */
function validateGeneratedSelector({ metadata, spec = EMPTY_SPEC }: Job, at: FieldReport, requirePrefixed: boolean): void {
  const uid = metadata?.uid ?? '';
  const name = metadata?.name ?? '';
  if (!uid) FieldReport.on(METADATA, at.errors).child('uid').required();
  const expected: Record<string, string> = {
    [LEGACY_CONTROLLER_UID_LABEL]: uid,
    [LEGACY_JOB_NAME_LABEL]: name,
    ...(requirePrefixed && { [CONTROLLER_UID_LABEL]: uid, [JOB_NAME_LABEL]: name }),
  };
  const labels = spec.template?.metadata?.labels;
  for (const [key, value] of Object.entries(expected)) {
    const field = at.child('template').child('metadata').child('labels').key(key);
    if (labels?.[key] === undefined) field.required(`must be '${value}'`);
    else if (labels[key] !== value) field.invalid(goMap(labels), `must be '${value}'`);
  }
  const selector = workloadSelector(spec.selector);
  if (selector && !selector.matches(expected))
    at.child('selector').invalid(goStruct(LabelSelector, spec.selector), '`selector` not auto-generated');
}

function validateSpecAndSelector(spec: JobSpec, at: FieldReport): void {
  validateJobSpec(spec, at);
  if (!spec.selector) at.child('selector').required();
  else at.add(validateLabelSelector(spec.selector, at.child('selector').path));
  const selector = workloadSelector(spec.selector);
  if (selector) validateTemplateLabels(spec.template, at.child('template'), selector);
}

// Pods of indexed jobs have the job's name and their index as hostname.
function validateHostnames({ metadata, spec }: Job, at: FieldReport): void {
  if (spec?.completionMode !== 'Indexed' || !spec.completions || spec.completions < 0) return;
  const name = metadata?.name ?? '';
  const hostname = `${name}-${spec.completions - 1}`;
  if (checkDns1123Label(hostname).length === 0) return;
  const field = FieldReport.on(METADATA, at.errors).child('name');
  field.invalid(name, `will not able to create pod with invalid DNS label: ${hostname}`);
}

export function validateJobUpdate(job: Job, old: Job): FieldError[] {
  const labels = old.spec?.template?.metadata?.labels;
  const requirePrefixedLabels = labels?.[JOB_NAME_LABEL] !== undefined && labels[CONTROLLER_UID_LABEL] !== undefined;
  const at = FieldReport.on(SPEC, validateWhole(job, { requirePrefixedLabels }));
  at.add(validateObjectMetaUpdate(job.metadata, old.metadata));
  const spec = job.spec ?? EMPTY_SPEC;
  const before = old.spec ?? EMPTY_SPEC;
  validateSpecAndSelector(spec, at);
  validateCompletions(spec, before, at.child('completions'));
  if (!sameValue(spec.selector, before.selector)) at.child('selector').invalid(goStruct(LabelSelector, spec.selector), FIELD_IS_IMMUTABLE);
  validateTemplateUpdate(job, old, at);
  validateImmutables(spec, before, at);
  return at.errors;
}

function validateImmutables(spec: JobSpec, old: JobSpec, at: FieldReport): void {
  const printed = {
    completionMode: spec.completionMode,
    podFailurePolicy: goStruct(PodFailurePolicy, spec.podFailurePolicy),
    backoffLimitPerIndex: spec.backoffLimitPerIndex,
    managedBy: spec.managedBy,
    successPolicy: goStruct(SuccessPolicy, spec.successPolicy),
  };
  for (const field of Object.keys(printed) as (keyof typeof printed)[]) {
    if (!sameValue(spec[field], old[field])) at.child(field).invalid(printed[field] ?? null, FIELD_IS_IMMUTABLE);
  }
}

// Indexed jobs are scaled by changing both numbers together.
function validateCompletions({ completions, completionMode, parallelism }: JobSpec, old: JobSpec, at: FieldReport): void {
  if (completions === old.completions) return;
  if (completionMode !== 'Indexed') at.invalid(completions ?? null, FIELD_IS_IMMUTABLE);
  else if (completions !== undefined && completions !== parallelism) {
    at.invalid(completions, 'can only be modified in tandem with spec.parallelism');
  }
}

/** The scheduling directives and resources of a suspended job without pods may be changed before it resumes. */
function isTemplateMutable({ spec, status }: Job): boolean {
  if (!spec?.suspend || (status?.active ?? 0) !== 0) return false;
  const isSuspended = status?.conditions?.some(({ type, status: value }) => type === 'Suspended' && value === 'True') ?? false;
  return status?.startTime === undefined || isSuspended;
}

function validateTemplateUpdate(job: Job, old: Job, at: FieldReport): void {
  const template = job.spec?.template ?? {};
  const isMutable = isTemplateMutable(old);
  const before = isMutable ? withScheduling(old.spec?.template ?? {}, template) : (old.spec?.template ?? {});
  if (!old.spec?.suspend || !isMutable) {
    if (!sameTemplate(template, before)) at.child('template').invalid(internalPodTemplate(template), FIELD_IS_IMMUTABLE);
    return;
  }
  const spec = template.spec ?? ({} as PodSpec);
  const expected = withResources(before.spec ?? ({} as PodSpec), spec);
  if (!samePodSpec(spec, expected)) at.child('template.spec').invalid(internalPodSpec(spec), FIELD_IS_IMMUTABLE);
}

function sameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return semanticEqual(a as JsonValue, b as JsonValue, PodTemplateSpec);
}

/** The old template with the scheduling directives of the new one. */
function withScheduling(old: PodTemplateSpec, template: PodTemplateSpec): PodTemplateSpec {
  const { labels, annotations } = template.metadata ?? {};
  const { labels: _, annotations: __, ...metadata } = old.metadata ?? {};
  const spec = template.spec ?? ({} as PodSpec);
  const { nodeSelector: _n, tolerations: _t, schedulingGates: _s, affinity, ...rest } = old.spec ?? ({} as PodSpec);
  const { nodeSelector, tolerations, schedulingGates } = spec;
  const mixed = mixAffinity(affinity, spec.affinity);
  return {
    ...old,
    metadata: { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: {
      ...rest,
      ...(nodeSelector && { nodeSelector }),
      ...(tolerations && { tolerations }),
      ...(schedulingGates && { schedulingGates }),
      ...(mixed && { affinity: mixed }),
    },
  };
}

function mixAffinity(old: Affinity | undefined, now: Affinity | undefined): Affinity | undefined {
  if (!old && !now) return undefined;
  const { nodeAffinity: _, ...rest } = old ?? {};
  const mixed: Affinity = { ...rest, ...(now?.nodeAffinity && { nodeAffinity: now.nodeAffinity }) };
  return !now && Object.keys(mixed).length === 0 ? undefined : mixed;
}

function withResources(old: PodSpec, spec: PodSpec): PodSpec {
  return {
    ...old,
    containers: withContainerResources(old.containers, spec.containers),
    ...(old.initContainers && { initContainers: withContainerResources(old.initContainers, spec.initContainers) }),
  };
}

function withContainerResources(
  list: readonly Container[] | null,
  containers: readonly Container[] | undefined | null,
): readonly Container[] {
  const old = list ?? [];
  if (old.length !== (containers?.length ?? 0)) return old;
  return old.map((container, i) => {
    const now = containers?.[i];
    return now?.name === container.name && now.resources ? { ...container, resources: now.resources } : container;
  });
}
