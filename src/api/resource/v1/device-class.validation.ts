import { checkDns1123Subdomain, type FieldError, type NameCheck, Path } from '#machinery';
import { isExtendedResource } from '../../core/v1/resource-list/resource-name.ts';
import { sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { validateItems } from './bounded-items.ts';
import type { DeviceClass, DeviceClassSpec } from './device-class.ts';
import { MAX_CONFIGS, validateConfiguration, validateSelectors } from './device-request.validation.ts';

const SPEC = Path.of('spec');
// As upstream: only the name is validated, not the generateName it was made of.
const nameRule: NameCheck = (name, prefix) => (prefix ? [] : checkDns1123Subdomain(name, 'bytes'));
const META = { namespaced: false, nameRule };

export function validateDeviceClass({ metadata, spec }: DeviceClass): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  validateSpec(spec ?? {}, FieldReport.on(SPEC, errors), false);
  return errors;
}

export function validateDeviceClassUpdate({ metadata, spec }: DeviceClass, old: DeviceClass): FieldError[] {
  const errors = [...validateObjectMeta(metadata, META), ...validateObjectMetaUpdate(metadata, old.metadata)];
  validateSpec(spec ?? {}, FieldReport.on(SPEC, errors), sameValue(spec?.config, old.spec?.config));
  return errors;
}

/** Configurations from before the length limit may stay. */
function validateSpec({ selectors, config, extendedResourceName }: DeviceClassSpec, at: FieldReport, keepsConfig: boolean): void {
  validateSelectors(selectors, at.child('selectors'));
  validateItems(config, at.child('config'), {
    max: MAX_CONFIGS,
    item: ({ opaque }, at) => validateConfiguration(opaque, at, keepsConfig),
  });
  if (extendedResourceName === undefined || isExtendedResource(extendedResourceName)) return;
  at.child('extendedResourceName').invalid(extendedResourceName, 'must be a valid extended resource name');
}
