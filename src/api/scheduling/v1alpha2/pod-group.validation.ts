import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { PodGroup, PodGroupSpec, PodGroupStatus } from './pod-group.ts';
import {
  reportChange,
  reportRepeatedNames,
  requiredLongName,
  requiredShortName,
  validateResourceClaims,
  validateSchedulingPolicy,
  validateUnion,
} from './pod-group-policy.validation.ts';

const META = { namespaced: true, nameRule: nameIsDnsSubdomain };
const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const MAX_CLAIM_STATUSES = 4;
/** Fields of disabled features: existing values are immutable. */
const FROZEN_FIELDS = ['schedulingConstraints', 'disruptionMode', 'priorityClassName', 'priority'] as const;

export function validatePodGroup({ metadata, spec }: PodGroup): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const at = FieldReport.on(SPEC, errors);
  validateTemplateRef(spec?.podGroupTemplateRef, at.child('podGroupTemplateRef'));
  validateSchedulingPolicy(spec?.schedulingPolicy ?? {}, at.child('schedulingPolicy'));
  validateResourceClaims(spec?.resourceClaims ?? [], at.child('resourceClaims'));
  return errors;
}

function validateTemplateRef(ref: PodGroupSpec['podGroupTemplateRef'], at: FieldReport): void {
  if (!ref) return;
  validateUnion(ref, ['workload'], at);
  if (!ref.workload) return;
  requiredLongName(ref.workload.workloadName, at.child('workload').child('workloadName'));
  requiredShortName(ref.workload.podGroupTemplateName, at.child('workload').child('podGroupTemplateName'));
}

export function validatePodGroupUpdate({ metadata, spec }: PodGroup, old: PodGroup): FieldError[] {
  const errors = validateObjectMetaUpdate(metadata, old.metadata);
  const at = FieldReport.on(SPEC, errors);
  for (const field of ['podGroupTemplateRef', 'schedulingPolicy', 'resourceClaims'] as const) {
    reportChange(spec?.[field], old.spec?.[field], at.child(field));
  }
  for (const field of FROZEN_FIELDS) {
    if (spec?.[field] !== undefined && !sameValue(spec[field], old.spec?.[field])) at.child(field).forbidden('');
  }
  return errors;
}

export function validatePodGroupStatus(group: PodGroup, old: PodGroup): FieldError[] {
  const { conditions = [], resourceClaimStatuses = [] } = group.status ?? {};
  const errors = validateObjectMetaUpdate(group.metadata, old.metadata);
  const at = FieldReport.on(STATUS, errors);
  at.add(validateConditions(conditions, STATUS.child('conditions')));
  const claims = new Set((group.spec?.resourceClaims ?? []).map(({ name }) => name));
  validateClaimStatuses(resourceClaimStatuses, claims, at.child('resourceClaimStatuses'));
  return errors;
}

type ClaimStatuses = NonNullable<PodGroupStatus['resourceClaimStatuses']>;

function validateClaimStatuses(statuses: ClaimStatuses, claims: ReadonlySet<string>, at: FieldReport): void {
  for (const [i, { name }] of statuses.entries()) {
    if (!claims.has(name)) at.index(i).child('name').invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
  }
  if (statuses.length > MAX_CLAIM_STATUSES) {
    at.tooMany(statuses.length, MAX_CLAIM_STATUSES);
    return;
  }
  reportRepeatedNames(statuses, at);
  for (const [i, { resourceClaimName }] of statuses.entries()) {
    if (resourceClaimName !== undefined) requiredLongName(resourceClaimName, at.index(i).child('resourceClaimName'));
  }
}
