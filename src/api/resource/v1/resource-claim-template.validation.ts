import { pushAll } from '#base';
import { type FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import { validateLabels } from '../../meta/v1/label.validation.ts';
import { validateAnnotations, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { validateDeviceClaim } from './device-request.validation.ts';
import { type ResourceClaimTemplate, ResourceClaimTemplateSpec } from './resource-claim-template.ts';

const META = { namespaced: true, nameRule: nameIsDnsSubdomain };
const SPEC = Path.of('spec');

export function validateResourceClaimTemplate({ metadata, spec }: ResourceClaimTemplate): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const template = spec?.metadata;
  pushAll(errors, validateAnnotations(template?.annotations, SPEC.child('metadata', 'annotations')));
  pushAll(errors, validateLabels(template?.labels, SPEC.child('metadata', 'labels')));
  validateDeviceClaim(spec?.spec?.devices, FieldReport.on(SPEC.child('spec', 'devices'), errors));
  return errors;
}

export function validateResourceClaimTemplateUpdate(template: ResourceClaimTemplate, old: ResourceClaimTemplate): FieldError[] {
  const { metadata, spec } = template;
  return [
    ...validateResourceClaimTemplate(template),
    ...validateObjectMetaUpdate(metadata, old.metadata),
    ...immutable(SPEC, { value: spec, old: old.spec, printed: goStruct(ResourceClaimTemplateSpec, spec ?? {}) }),
  ];
}
