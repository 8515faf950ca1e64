import { FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { sameValue } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { validateDriver, validateParameters } from './storage-class.validation.ts';
import type { VolumeAttributesClass } from './volume-attributes-class.ts';

const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validateVolumeAttributesClass({ metadata, driverName, parameters }: VolumeAttributesClass): FieldError[] {
  return [
    ...validateObjectMeta(metadata, META),
    ...validateDriver(Path.of('driverName'), driverName),
    ...validateParameters(parameters, { mayBeEmpty: false }),
  ];
}

export function validateVolumeAttributesClassUpdate(attributes: VolumeAttributesClass, old: VolumeAttributesClass): FieldError[] {
  const errors = validateObjectMetaUpdate(attributes.metadata, old.metadata);
  for (const field of ['driverName', 'parameters'] as const) {
    if (!sameValue(attributes[field], old[field])) errors.push(FieldError.forbidden(Path.of(field), `updates to ${field} are forbidden.`));
  }
  return [...errors, ...validateVolumeAttributesClass(attributes)];
}
