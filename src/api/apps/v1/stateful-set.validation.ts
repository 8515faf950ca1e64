import { checkDns1123Label, type FieldError, nameIsDnsLabel, Path } from '#machinery';
import type { PersistentVolumeClaim } from '../../core/v1/persistent-volume-claim/persistent-volume-claim.ts';
import { validatePersistentVolumeClaimSpec } from '../../core/v1/persistent-volume-claim/persistent-volume-claim-spec.validation.ts';
import { validatePodAnnotations } from '../../core/v1/pod/pod-annotations.validation.ts';
import type { PodSpec } from '../../core/v1/pod/pod-spec.ts';
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from '../../core/v1/pod-template/int-or-percent.validation.ts';
import type { PodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.ts';
import { validatePodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.validation.ts';
import {
  isEmptySelector,
  validateRestartsAlways,
  validateTemplateLabels,
  workloadSelector,
} from '../../core/v1/pod-template/workload-template.validation.ts';
import type { Volume } from '../../core/v1/volume/volume.ts';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabelSelector, validateLabels } from '../../meta/v1/label.validation.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { validateAnnotations, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import {
  RollingUpdateStatefulSetStrategy,
  type StatefulSet,
  type StatefulSetSpec,
  type StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from './stateful-set.ts';
import { validateCollisionCount } from './status-counts.validation.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const META_RULES = { namespaced: true, nameRule: nameIsDnsLabel } as const;
const EMPTY_SPEC = {} as StatefulSetSpec;
const RETENTION = ['Retain', 'Delete'];
const UPDATABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
] as const;
const NOT_UPDATABLE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** Fields that were always immutable are not validated again on updates. */
interface SpecRules {
  readonly isUpdate: boolean;
  /** Existing sets that violate newer rules can still be updated. */
  readonly anyTemplate?: boolean;
}

export function validateStatefulSet({ metadata, spec = EMPTY_SPEC }: StatefulSet): FieldError[] {
  return validateSpec(spec, FieldReport.on(SPEC, validateObjectMeta(metadata, META_RULES)), { isUpdate: false });
}

export function validateStatefulSetUpdate({ metadata, spec = EMPTY_SPEC }: StatefulSet, old: StatefulSet): FieldError[] {
  const at = FieldReport.on(SPEC, validateObjectMetaUpdate(metadata, old.metadata));
  const anyTemplate = validateSpec(old.spec ?? EMPTY_SPEC, FieldReport.on(SPEC), { isUpdate: true }).length > 0;
  validateSpec(spec, at, { isUpdate: true, anyTemplate });
  if (!sameValue(withoutUpdatable(spec), withoutUpdatable(old.spec ?? EMPTY_SPEC))) at.forbidden(NOT_UPDATABLE);
  return at.errors;
}

function withoutUpdatable(spec: StatefulSetSpec): Partial<StatefulSetSpec> {
  const rest: Partial<StatefulSetSpec> = { ...spec };
  for (const field of UPDATABLE) delete rest[field];
  return rest;
}

function validateSpec(spec: StatefulSetSpec, at: FieldReport, rules: SpecRules): FieldError[] {
  const { isUpdate } = rules;
  validatePolicies(spec, at);
  if (!isUpdate) validateClaims(spec.volumeClaimTemplates ?? [], at.child('volumeClaimTemplates'));
  at.child('replicas').nonNegative(spec.replicas);
  at.child('minReadySeconds').nonNegative(spec.minReadySeconds);
  if (spec.ordinals) at.child('ordinals.start').nonNegative(spec.ordinals.start);
  if (!isUpdate && spec.serviceName) at.child('serviceName').problems(spec.serviceName, checkDns1123Label(spec.serviceName));
  validateSelectorAndTemplate(spec, at, rules);
  validateRestartsAlways(spec.template, at.child('template'), 'StatefulSet');
  return at.errors;
}

function validatePolicies(spec: StatefulSetSpec, at: FieldReport): void {
  const { podManagementPolicy: policy, persistentVolumeClaimRetentionPolicy: retention } = spec;
  if (!policy) at.child('podManagementPolicy').required();
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    at.child('podManagementPolicy').invalid(policy, "must be 'OrderedReady' or 'Parallel'");
  }
  validateStrategy(spec.updateStrategy ?? {}, at.child('updateStrategy'));
  if (!retention) return;
  at.child('persistentVolumeClaimRetentionPolicy').child('whenDeleted').oneOf(retention.whenDeleted, RETENTION);
  at.child('persistentVolumeClaimRetentionPolicy').child('whenScaled').oneOf(retention.whenScaled, RETENTION);
}

function validateStrategy(strategy: StatefulSetUpdateStrategy, at: FieldReport): void {
  const { type, rollingUpdate } = strategy;
  const field = at.child('rollingUpdate');
  if (!type) at.required();
  else if (type === 'OnDelete') {
    if (rollingUpdate)
      field.invalid(goStruct(RollingUpdateStatefulSetStrategy, rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'");
  } else if (type !== 'RollingUpdate') {
    at.invalid(goStruct(StatefulSetUpdateStrategy, strategy), "must be 'RollingUpdate' or 'OnDelete'");
  } else if (rollingUpdate) validateRollingUpdate(rollingUpdate, field);
}

function validateRollingUpdate({ partition, maxUnavailable }: RollingUpdateStatefulSetStrategy, at: FieldReport): void {
  at.child('partition').nonNegative(partition);
  if (maxUnavailable === undefined) return;
  validateIntOrPercent(maxUnavailable, at.child('maxUnavailable'));
  if (intOrPercentValue(maxUnavailable) === 0) at.child('maxUnavailable').invalid(maxUnavailable, 'cannot be 0');
  validateAtMost100Percent(maxUnavailable, at.child('maxUnavailable'));
}

function validateClaims(claims: readonly PersistentVolumeClaim[], at: FieldReport): void {
  claims.forEach(({ spec }, i) => {
    at.add(validatePersistentVolumeClaimSpec(spec ?? {}, at.index(i).child('spec').path));
  });
}

function validateSelectorAndTemplate(spec: StatefulSetSpec, at: FieldReport, { anyTemplate = false }: SpecRules): void {
  const { selector, template = {} } = spec;
  const field = at.child('selector');
  if (!selector) field.required();
  else {
    at.add(validateLabelSelector(selector, field.path));
    if (isEmptySelector(selector)) field.invalid(goStruct(LabelSelector, selector), 'empty selector is invalid for statefulset');
  }
  const compiled = workloadSelector(selector);
  if (!compiled) {
    field.invalid(goStruct(LabelSelector, selector), '');
    return;
  }
  const pods = at.child('template');
  if (!compiled.isEmpty) validateTemplateLabels(template, pods, compiled);
  const ofPods = templateOfPods(template, spec.volumeClaimTemplates ?? []);
  if (!anyTemplate) validatePodTemplateSpec(ofPods, pods);
  validateTemplateMetadata(ofPods, pods);
}

// Upstream validates labels and annotations twice.
function validateTemplateMetadata(template: PodTemplateSpec, at: FieldReport): void {
  const { labels, annotations } = template.metadata ?? {};
  if (labels) at.add(validateLabels(labels, at.child('labels').path));
  if (annotations) at.add(validateAnnotations(annotations, at.child('annotations').path));
  validatePodAnnotations(annotations, at.child('annotations'), template.spec ?? ({} as PodSpec));
}

/** The template as completed by the set: with a volume per claim, and with host names set by the controller. */
function templateOfPods(template: PodTemplateSpec, claims: readonly PersistentVolumeClaim[]): PodTemplateSpec {
  const { spec } = template;
  if (!spec || (!spec.subdomain && !spec.hostname && claims.length === 0)) return template;
  const { subdomain: _, hostname: __, ...rest } = spec;
  const names = new Set(claims.map(({ metadata }) => metadata?.name));
  const own = (spec.volumes ?? []).filter(({ name }) => !names.has(name));
  const volumes = [...[...names].map((name) => claimVolume(name ?? '')), ...own];
  return { ...template, spec: { ...rest, volumes } };
}

function claimVolume(name: string): Volume {
  return { name, persistentVolumeClaim: { claimName: name } };
}

const COUNTS = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
] as const;
const PARTS = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;

export function validateStatefulSetStatusUpdate(
  { metadata, status = {} as StatefulSetStatus }: StatefulSet,
  old: StatefulSet,
): FieldError[] {
  const at = FieldReport.on(STATUS);
  for (const count of COUNTS) at.child(count).nonNegative(status[count]);
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const part of PARTS) {
    const value = status[part] ?? 0;
    if (value > replicas) at.child(part).invalid(value, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas) {
    at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than status.readyReplicas');
  }
  at.add(validateObjectMetaUpdate(metadata, old.metadata));
  validateCollisionCount(status, at, old.status);
  return at.errors;
}
