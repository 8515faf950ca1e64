import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from '../../core/v1/pod-template/int-or-percent.validation.ts';
import { validatePodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.validation.ts';
import {
  isEmptySelector,
  validateRestartsAlways,
  validateTemplateLabels,
  workloadSelector,
} from '../../core/v1/pod-template/workload-template.validation.ts';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { type DaemonSet, type DaemonSetSpec, DaemonSetUpdateStrategy, type RollingUpdateDaemonSet } from './daemon-set.ts';
import { validateCollisionCount } from './status-counts.validation.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;
const EMPTY_SPEC = {} as DaemonSetSpec;

export function validateDaemonSet({ metadata, spec = EMPTY_SPEC }: DaemonSet): FieldError[] {
  return validateSpec(spec, FieldReport.on(SPEC, validateObjectMeta(metadata, META_RULES)));
}

export function validateDaemonSetUpdate({ metadata, spec = EMPTY_SPEC }: DaemonSet, old: DaemonSet): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMetaUpdate(metadata, old.metadata));
  if (!sameValue(spec.selector, old.spec?.selector))
    at.child('selector').invalid(goStruct(LabelSelector, spec.selector), FIELD_IS_IMMUTABLE);
  return validateSpec(spec, at);
}

function validateSpec(spec: DaemonSetSpec, at: FieldReport): FieldError[] {
  const { selector, template = {} } = spec;
  at.add(validateLabelSelector(selector, at.child('selector').path));
  const compiled = workloadSelector(selector);
  if (compiled) validateTemplateLabels(template, at.child('template'), compiled);
  if (selector && isEmptySelector(selector))
    at.child('selector').invalid(goStruct(LabelSelector, selector), 'empty selector is invalid for daemonset');
  validatePodTemplateSpec(template, at.child('template'));
  validateRestartsAlways(template, at.child('template'), 'DaemonSet');
  at.child('minReadySeconds').nonNegative(spec.minReadySeconds);
  validateStrategy(spec.updateStrategy ?? {}, at.child('updateStrategy'));
  at.child('revisionHistoryLimit').nonNegative(spec.revisionHistoryLimit);
  return at.errors;
}

function validateStrategy(strategy: DaemonSetUpdateStrategy, at: FieldReport): void {
  const { type, rollingUpdate } = strategy;
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') at.notSupported(goStruct(DaemonSetUpdateStrategy, strategy), ['RollingUpdate', 'OnDelete']);
  else if (!rollingUpdate) at.child('rollingUpdate').required();
  else validateRollingUpdate(rollingUpdate, at.child('rollingUpdate'));
}

function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet, at: FieldReport): void {
  validateIntOrPercent(maxUnavailable, at.child('maxUnavailable'));
  validateIntOrPercent(maxSurge, at.child('maxSurge'));
  validateAtMost100Percent(maxUnavailable, at.child('maxUnavailable'));
  validateAtMost100Percent(maxSurge, at.child('maxSurge'));
  const hasUnavailable = intOrPercentValue(maxUnavailable) !== 0;
  const hasSurge = intOrPercentValue(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) at.child('maxSurge').invalid(maxSurge, 'may not be set when maxUnavailable is non-zero');
  if (!hasUnavailable && !hasSurge) at.child('maxUnavailable').required('cannot be 0 when maxSurge is 0');
}

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;

export function validateDaemonSetStatusUpdate({ metadata, status }: DaemonSet, old: DaemonSet): FieldError[] {
  const at = FieldReport.on(STATUS, validateObjectMetaUpdate(metadata, old.metadata));
  for (const count of COUNTS) at.child(count).nonNegative(status?.[count]);
  validateCollisionCount(status ?? {}, at, old.status);
  return at.errors;
}
