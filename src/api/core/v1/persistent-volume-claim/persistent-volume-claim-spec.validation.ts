import { pushAll } from '#base';
import { checkDns1123Subdomain, FieldError, nameIsDnsLabel, nameIsDnsSubdomain, type Path, Verbatim } from '#machinery';
import { invalidErrors, notEmpty, positiveQuantity, supportedValue } from '../../../field-checks.ts';
import { validateLabelSelector } from '../../../meta/v1/label.validation.ts';
import { validateResourceAmount } from '../resource-list/resource-name.validation.ts';
import type { PersistentVolumeClaimSpec, TypedObjectReference } from './persistent-volume-claim-spec.ts';

export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const VOLUME_MODES = ['Block', 'Filesystem'];
/** Upstream prints an empty struct. */
const A_PATH = new Verbatim('{}');

/** Values that objects from before a rule may keep. */
export interface ClaimSpecRules {
  readonly allowInvalidSelectorValues?: boolean;
  readonly allowInvalidApiGroup?: boolean;
}

export function validatePersistentVolumeClaimSpec(spec: PersistentVolumeClaimSpec, path: Path, rules: ClaimSpecRules = {}): FieldError[] {
  const errors: FieldError[] = [];
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(FieldError.required(path.child('accessModes'), 'at least 1 access mode is required'));
  pushAll(
    errors,
    validateLabelSelector(spec.selector, path.child('selector'), { allowInvalidValues: rules.allowInvalidSelectorValues === true }),
  );
  pushAll(errors, validateAccessModes(path.child('accessModes'), modes));
  pushAll(errors, validateStorage(path.child('resources').key('storage'), spec.resources?.requests?.storage));
  if (spec.storageClassName) pushAll(errors, validateClassName(path.child('storageClassName'), spec.storageClassName));
  if (spec.volumeMode !== undefined) pushAll(errors, supportedValue(path.child('volumeMode'), spec.volumeMode, VOLUME_MODES));
  pushAll(errors, validateDataSources(spec, path, rules));
  if (spec.volumeAttributesClassName) {
    pushAll(errors, validateClassName(path.child('volumeAttributesClassName'), spec.volumeAttributesClassName));
  }
  return errors;
}

export function validateAccessModes(path: Path, modes: readonly string[]): FieldError[] {
  const errors = modes.flatMap((mode) => supportedValue(path, mode, ACCESS_MODES));
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (!others || !modes.includes('ReadWriteOncePod')) return errors;
  return [...errors, FieldError.forbidden(path, 'may not use ReadWriteOncePod with other access modes')];
}

export function validateClassName(path: Path, name: string): readonly FieldError[] {
  return invalidErrors(path, name, nameIsDnsSubdomain(name, false));
}

function validateStorage(path: Path, amount: string | undefined): readonly FieldError[] {
  if (amount === undefined) return [FieldError.required(path)];
  const errors = positiveQuantity(path, amount);
  return errors.length > 0 ? errors : validateResourceAmount(path, 'storage', amount);
}

function validateDataSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: Path, rules: ClaimSpecRules): FieldError[] {
  const errors = [
    ...(dataSource ? validateDataSource(path.child('dataSource'), dataSource, rules) : []),
    ...(dataSourceRef ? validateDataSource(path.child('dataSourceRef'), dataSourceRef, rules) : []),
  ];
  if (!dataSource || !dataSourceRef) return errors;
  if (dataSourceRef.namespace) {
    return [...errors, FieldError.invalid(path, A_PATH, 'may not be specified when dataSourceRef.namespace is specified')];
  }
  const same =
    (dataSource.apiGroup ?? null) === (dataSourceRef.apiGroup ?? null) &&
    dataSource.kind === dataSourceRef.kind &&
    dataSource.name === dataSourceRef.name;
  return same ? errors : [...errors, FieldError.invalid(path, A_PATH, 'must match dataSourceRef')];
}

function validateDataSource(path: Path, source: TypedObjectReference, { allowInvalidApiGroup }: ClaimSpecRules): FieldError[] {
  const errors = [...notEmpty(path.child('name'), source.name), ...notEmpty(path.child('kind'), source.kind)];
  const group = source.apiGroup ?? '';
  if (group === '' && source.kind !== 'PersistentVolumeClaim') {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(FieldError.invalid(path, source.kind ?? '', detail));
  }
  if (group !== '' && !allowInvalidApiGroup) pushAll(errors, invalidErrors(path.child('apiGroup'), group, checkDns1123Subdomain(group)));
  const { namespace } = source;
  if (namespace) pushAll(errors, invalidErrors(path.child('namespace'), namespace, nameIsDnsLabel(namespace, false)));
  return errors;
}
