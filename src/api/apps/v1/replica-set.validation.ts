import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import type { PodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.ts';
import { validatePodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.validation.ts';
import {
  isEmptySelector,
  validateRestartsAlways,
  validateTemplateLabels,
  workloadSelector,
} from '../../core/v1/pod-template/workload-template.validation.ts';
import { validateReplicaCounts } from '../../core/v1/replication-controller/replica-counts.validation.ts';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { ReplicaSet, ReplicaSetSpec } from './replica-set.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;
const EMPTY_SPEC = {} as ReplicaSetSpec;

export function validateReplicaSet({ metadata, spec = EMPTY_SPEC }: ReplicaSet): FieldError[] {
  return validateSpec(spec, FieldReport.on(SPEC, validateObjectMeta(metadata, META_RULES)));
}

export function validateReplicaSetUpdate({ metadata, spec = EMPTY_SPEC }: ReplicaSet, old: ReplicaSet): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMetaUpdate(metadata, old.metadata));
  validateSpec(spec, at);
  if (!sameValue(spec.selector, old.spec?.selector))
    at.child('selector').invalid(goStruct(LabelSelector, spec.selector), FIELD_IS_IMMUTABLE);
  return at.errors;
}

export function validateReplicaSetStatusUpdate({ metadata, status }: ReplicaSet, old: ReplicaSet): FieldError[] {
  const at = FieldReport.on(STATUS, validateObjectMetaUpdate(metadata, old.metadata));
  validateReplicaCounts(status ?? {}, at);
  return at.errors;
}

function validateSpec(spec: ReplicaSetSpec, at: FieldReport): FieldError[] {
  at.child('replicas').nonNegative(spec.replicas);
  at.child('minReadySeconds').nonNegative(spec.minReadySeconds);
  validateReplicaTemplate(spec, at);
  return at.errors;
}

interface SelectorAndTemplate {
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
}

/** Selector and template of ReplicaSets and Deployments. */
export function validateReplicaTemplate({ selector, template = {} }: SelectorAndTemplate, at: FieldReport): void {
  const field = at.child('selector');
  if (!selector) field.required();
  else {
    at.add(validateLabelSelector(selector, field.path));
    if (isEmptySelector(selector)) field.invalid(goStruct(LabelSelector, selector), 'empty selector is invalid for deployment');
  }
  const compiled = workloadSelector(selector);
  if (!compiled) {
    field.invalid(goStruct(LabelSelector, selector), 'invalid label selector');
    return;
  }
  validateTemplateLabels(template, at.child('template'), compiled);
  validatePodTemplateSpec(template, at.child('template'));
  validateRestartsAlways(template, at.child('template'), 'ReplicaSet');
}
