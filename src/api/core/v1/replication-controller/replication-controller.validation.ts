import { checkDns1123Subdomain, type FieldError, type NameCheck, Path } from '#machinery';
import { FieldReport } from '../../../field-report.ts';
import { goMap } from '../../../go-struct.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';
import { validatePodTemplateSpec } from '../pod-template/pod-template-spec.validation.ts';
import { validateReplicaCounts } from './replica-counts.validation.ts';
import type { ReplicationController, ReplicationControllerSpec } from './replication-controller.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');

// Validates the generated name, not the prefix.
const nameRule: NameCheck = (name, prefix) => (prefix ? [] : checkDns1123Subdomain(name, 'bytes'));

export function validateReplicationController({ metadata, spec = {} }: ReplicationController): FieldError[] {
  const errors = validateObjectMeta(metadata, { namespaced: true, nameRule });
  return validateSpec(spec, FieldReport.on(SPEC, errors));
}

export function validateReplicationControllerUpdate(
  { metadata, spec = {} }: ReplicationController,
  old: ReplicationController,
): FieldError[] {
  return validateSpec(spec, FieldReport.on(SPEC, validateObjectMetaUpdate(metadata, old.metadata)));
}

export function validateReplicationControllerStatusUpdate(
  { metadata, status = { replicas: 0 } }: ReplicationController,
  old: ReplicationController,
): FieldError[] {
  const at = FieldReport.on(STATUS, validateObjectMetaUpdate(metadata, old.metadata));
  validateReplicaCounts(status, at);
  return at.errors;
}

function validateSpec(spec: ReplicationControllerSpec, at: FieldReport): FieldError[] {
  const { minReadySeconds, selector = {}, replicas, template } = spec;
  at.child('minReadySeconds').nonNegative(minReadySeconds);
  if (Object.keys(selector).length === 0) at.child('selector').required();
  if (replicas === undefined) at.child('replicas').required();
  else at.child('replicas').nonNegative(replicas);
  if (!template) at.child('template').required();
  else validateTemplate(template, at.child('template'), selector);
  return at.errors;
}

function validateTemplate(template: PodTemplateSpec, at: FieldReport, selector: Readonly<Record<string, string>>): void {
  const labels = template.metadata?.labels;
  if (!Object.keys(selector).every((key) => labels?.[key] === selector[key])) {
    at.child('metadata').child('labels').invalid(goMap(labels), '`selector` does not match template `labels`');
  }
  validatePodTemplateSpec(template, at);
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {};
  if (restartPolicy !== 'Always')
    at.child('spec')
      .child('restartPolicy')
      .notSupported(restartPolicy ?? '', ['Always']);
  if (activeDeadlineSeconds === undefined) return;
  at.child('spec').child('activeDeadlineSeconds').forbidden('activeDeadlineSeconds in ReplicationController is not Supported');
}
