import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from '../../core/v1/pod-template/int-or-percent.validation.ts';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import {
  type Deployment,
  type DeploymentSpec,
  type DeploymentStatus,
  DeploymentStrategy,
  ROLLBACK_TO,
  type RollingUpdateDeployment,
} from './deployment.ts';
import { validateReplicaTemplate } from './replica-set.validation.ts';
import { validateCollisionCount } from './status-counts.validation.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const META_RULES = { namespaced: true, nameRule: nameIsDnsSubdomain } as const;
const EMPTY_SPEC = {} as DeploymentSpec;

export function validateDeployment(deployment: Deployment): FieldError[] {
  return validateSpec(deployment, FieldReport.on(SPEC, validateObjectMeta(deployment.metadata, META_RULES)));
}

export function validateDeploymentUpdate(deployment: Deployment, old: Deployment): FieldError[] {
  const { metadata, spec = EMPTY_SPEC } = deployment;
  const at = FieldReport.on(SPEC, validateObjectMetaUpdate(metadata, old.metadata));
  validateSpec(deployment, at);
  if (!sameValue(spec.selector, old.spec?.selector))
    at.child('selector').invalid(goStruct(LabelSelector, spec.selector), FIELD_IS_IMMUTABLE);
  return at.errors;
}

function validateSpec({ metadata, spec = EMPTY_SPEC }: Deployment, at: FieldReport): FieldError[] {
  const { minReadySeconds = 0, revisionHistoryLimit, progressDeadlineSeconds: deadline } = spec;
  at.child('replicas').nonNegative(spec.replicas);
  validateReplicaTemplate(spec, at);
  validateStrategy(spec.strategy ?? {}, at.child('strategy'));
  at.child('minReadySeconds').nonNegative(minReadySeconds);
  at.child('revisionHistoryLimit').nonNegative(revisionHistoryLimit);
  const rollback = metadata.annotations?.[ROLLBACK_TO];
  if (rollback) at.child('rollback').child('version').nonNegative(Number(rollback));
  at.child('progressDeadlineSeconds').nonNegative(deadline);
  if (deadline !== undefined && deadline <= minReadySeconds) {
    at.child('progressDeadlineSeconds').invalid(deadline, 'must be greater than minReadySeconds');
  }
  return at.errors;
}

function validateStrategy(strategy: DeploymentStrategy, at: FieldReport): void {
  const { type, rollingUpdate } = strategy;
  switch (type) {
    case 'Recreate':
      if (rollingUpdate) at.child('rollingUpdate').forbidden("may not be specified when strategy `type` is 'Recreate'");
      break;
    case 'RollingUpdate':
      if (!rollingUpdate) at.child('rollingUpdate').required('this should be defaulted and never be nil');
      else validateRollingUpdate(rollingUpdate, at.child('rollingUpdate'));
      break;
    default:
      at.notSupported(goStruct(DeploymentStrategy, strategy), ['Recreate', 'RollingUpdate']);
  }
}

function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment, at: FieldReport): void {
  validateIntOrPercent(maxUnavailable, at.child('maxUnavailable'));
  validateIntOrPercent(maxSurge, at.child('maxSurge'));
  if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0) {
    at.child('maxUnavailable').invalid(maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  validateAtMost100Percent(maxUnavailable, at.child('maxUnavailable'));
}

const COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
] as const;
const PARTS = ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const;

export function validateDeploymentStatusUpdate({ metadata, status = {} }: Deployment, old: Deployment): FieldError[] {
  const at = FieldReport.on(STATUS, validateObjectMetaUpdate(metadata, old.metadata));
  validateStatus(status, at);
  validateCollisionCount(status, at, old.status);
  return at.errors;
}

function validateStatus(status: DeploymentStatus, at: FieldReport): void {
  for (const count of COUNTS) at.child(count).nonNegative(status[count]);
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const part of PARTS) {
    const value = status[part] ?? 0;
    if (value > replicas) at.child(part).invalid(value, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas) at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than readyReplicas');
}
