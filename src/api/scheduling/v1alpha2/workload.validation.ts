import { checkDns1123Subdomain, checkPathSegmentName, type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { FieldReport } from '../../field-report.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import {
  reportChange,
  reportRepeatedNames,
  requiredShortName,
  validateResourceClaims,
  validateSchedulingPolicy,
} from './pod-group-policy.validation.ts';
import type { PodGroupTemplate, TypedLocalObjectReference, Workload } from './workload.ts';

const META = { namespaced: true, nameRule: nameIsDnsSubdomain };
const SPEC = Path.of('spec');
const MAX_TEMPLATES = 8;

export function validateWorkload({ metadata, spec }: Workload): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const at = FieldReport.on(SPEC, errors);
  if (spec?.controllerRef) validateControllerRef(spec.controllerRef, at.child('controllerRef'));
  validateTemplates(spec?.podGroupTemplates ?? [], at.child('podGroupTemplates'));
  return errors;
}

export function validateWorkloadUpdate({ metadata, spec }: Workload, old: Workload): FieldError[] {
  const errors = validateObjectMetaUpdate(metadata, old.metadata);
  const at = FieldReport.on(SPEC, errors);
  reportChange(spec?.controllerRef, old.spec?.controllerRef, at.child('controllerRef'));
  const templates = at.child('podGroupTemplates');
  if (!reportChange(spec?.podGroupTemplates, old.spec?.podGroupTemplates, templates)) return errors;
  const count = spec?.podGroupTemplates?.length ?? 0;
  if (count > MAX_TEMPLATES) templates.tooMany(count, MAX_TEMPLATES);
  if (count === 0) templates.required();
  return errors;
}

function validateControllerRef({ apiGroup = '', kind, name }: TypedLocalObjectReference, at: FieldReport): void {
  if (apiGroup !== '') at.child('apiGroup').problems(apiGroup, checkDns1123Subdomain(apiGroup));
  requiredPathSegment(kind, at.child('kind'));
  requiredPathSegment(name, at.child('name'));
}

function requiredPathSegment(value: string | undefined, at: FieldReport): void {
  if (value) at.problems(value, checkPathSegmentName(value));
  else at.required();
}

function validateTemplates(templates: readonly PodGroupTemplate[], at: FieldReport): void {
  if (templates.length === 0) at.required();
  if (templates.length > MAX_TEMPLATES) at.tooMany(templates.length, MAX_TEMPLATES);
  if (templates.length === 0 || templates.length > MAX_TEMPLATES) return;
  reportRepeatedNames(templates, at);
  for (const [i, { name, schedulingPolicy, resourceClaims }] of templates.entries()) {
    requiredShortName(name, at.index(i).child('name'));
    validateSchedulingPolicy(schedulingPolicy ?? {}, at.index(i).child('schedulingPolicy'));
    validateResourceClaims(resourceClaims ?? [], at.index(i).child('resourceClaims'));
  }
}
