import { pushAll } from '#base';
import { checkQualifiedName, diffText, FieldError, type JsonValue, nameIsDnsSubdomain, Path, Quantity, semanticEqual } from '#machinery';
import { basicResource, immutable, invalidErrors, supportedValue } from '../../../field-checks.ts';
import { goStruct } from '../../../go-struct.ts';
import { validateLabelSelector } from '../../../meta/v1/label.validation.ts';
import { FIELD_IS_IMMUTABLE, METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import { isNativeResource } from '../resource-list/resource-name.ts';
import { validateResourceAmount } from '../resource-list/resource-name.validation.ts';
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts';
import { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';
import { type ClaimSpecRules, validatePersistentVolumeClaimSpec } from './persistent-volume-claim-spec.validation.ts';

export const STORAGE_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();
const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const STORAGE_REQUEST = SPEC.child('resources', 'requests', 'storage');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

export function validatePersistentVolumeClaim(claim: PersistentVolumeClaim, rules: ClaimSpecRules = {}): FieldError[] {
  return [...validateObjectMeta(claim.metadata, META), ...validatePersistentVolumeClaimSpec(claim.spec ?? {}, SPEC, rules)];
}

/** Values of the stored claim that newer rules would reject. */
function rulesFor(old: PersistentVolumeClaim): ClaimSpecRules {
  const { dataSource, dataSourceRef, selector } = old.spec ?? {};
  const hasGroup = (dataSource?.apiGroup ?? null) !== null || (dataSourceRef?.apiGroup ?? null) !== null;
  return { allowInvalidApiGroup: hasGroup, allowInvalidSelectorValues: validateLabelSelector(selector, SPEC).length > 0 };
}

export function validatePersistentVolumeClaimUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  return [
    ...validateObjectMetaUpdate(claim.metadata, old.metadata),
    ...validatePersistentVolumeClaim(claim, rulesFor(old)),
    ...validateClassAnnotation(claim, old),
    ...validateSpecUpdate(claim, old),
    ...validateSizeUpdate(claim, old),
    ...immutable(Path.of('volumeMode'), { value: claim.spec?.volumeMode, old: old.spec?.volumeMode }),
    ...validateAttributesClassUpdate(claim, old),
  ];
}

/** A storage class annotation may be moved to the field once. */
function movesClassFromAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const before = old.metadata.annotations?.[STORAGE_CLASS_ANNOTATION];
  const after = claim.metadata.annotations?.[STORAGE_CLASS_ANNOTATION];
  return (
    before !== undefined &&
    old.spec?.storageClassName === undefined &&
    claim.spec?.storageClassName === before &&
    (after === undefined || after === before)
  );
}

function setsClassOnce(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const annotation = old.metadata.annotations?.[STORAGE_CLASS_ANNOTATION];
  const name = claim.spec?.storageClassName;
  return name !== undefined && old.spec?.storageClassName === undefined && (annotation === undefined || annotation === name);
}

function validateClassAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): readonly FieldError[] {
  if (movesClassFromAnnotation(claim, old)) return [];
  const value = claim.metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? '';
  if (value === (old.metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? '')) return [];
  return [FieldError.invalid(METADATA.child('annotations', STORAGE_CLASS_ANNOTATION), value, FIELD_IS_IMMUTABLE)];
}

/** The claim's spec with the mutable fields reset to their old values. */
function fixedSpec(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  const { storageClassName, volumeAttributesClassName, ...rest } = claim.spec ?? {};
  const keepsClass = movesClassFromAnnotation(claim, old) || setsClassOnce(claim, old);
  const isBound = claim.status?.phase === 'Bound';
  const className = keepsClass ? old.spec?.storageClassName : storageClassName;
  const attributesClass = isBound ? old.spec?.volumeAttributesClassName : volumeAttributesClassName;
  const storage = old.spec?.resources?.requests?.storage;
  const requests = isBound && rest.resources?.requests ? { ...rest.resources.requests, storage: storage ?? '0' } : rest.resources?.requests;
  return {
    ...rest,
    ...(rest.resources && { resources: { ...rest.resources, ...(requests && { requests }) } }),
    ...(className !== undefined && { storageClassName: className }),
    ...(attributesClass !== undefined && { volumeAttributesClassName: attributesClass }),
  };
}

function validateSpecUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const spec = fixedSpec(claim, old);
  const bindsNow = !old.spec?.volumeName && spec.volumeName;
  const before: PersistentVolumeClaimSpec = bindsNow ? { ...old.spec, volumeName: spec.volumeName ?? '' } : (old.spec ?? {});
  if (semanticEqual(spec as JsonValue, before as JsonValue, PersistentVolumeClaimSpec)) return [];
  const difference = diffText(goStruct(PersistentVolumeClaimSpec, before), goStruct(PersistentVolumeClaimSpec, spec));
  const detail = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [FieldError.forbidden(SPEC, `${detail}\n${difference}`)];
}

/** A request may shrink only while an expansion has not succeeded, and must stay above the current capacity. */
function validateSizeUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const amount = (text: string | undefined) => Quantity.parse(text ?? '0');
  const size = amount(claim.spec?.resources?.requests?.storage);
  if (size.compare(amount(old.spec?.resources?.requests?.storage)) >= 0) return [];
  if (size.compare(amount(old.status?.capacity?.storage)) > 0) return [];
  return [FieldError.forbidden(STORAGE_REQUEST, 'field can not be less than status.capacity')];
}

function validateAttributesClassUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const name = claim.spec?.volumeAttributesClassName;
  const isApplied = old.status?.currentVolumeAttributesClassName !== undefined;
  if (!isApplied || name === old.spec?.volumeAttributesClassName || name) return [];
  const oldValue = name === undefined ? 'nil' : 'empty string';
  const detail = `update to ${oldValue} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [FieldError.forbidden(SPEC.child('volumeAttributesClassName'), detail)];
}

export function validatePersistentVolumeClaimStatusUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const errors = validateObjectMetaUpdate(claim.metadata, old.metadata);
  if (!claim.spec?.accessModes?.length) errors.push(FieldError.required(Path.of('Spec', 'accessModes')));
  for (const [name, amount] of Object.entries(claim.status?.capacity ?? {})) {
    pushAll(errors, basicResource(STATUS.child('capacity').key(name), amount));
  }
  return [...errors, ...validateResizeStatuses(claim), ...validateAllocatedResources(claim)];
}

function validateResizeStatuses({ status }: PersistentVolumeClaim): FieldError[] {
  const path = STATUS.child('allocatedResourceStatuses');
  return Object.entries(status?.allocatedResourceStatuses ?? {}).flatMap(([name, value]) => [
    ...validateResourceKey(path, name),
    // Upstream prints the resource, not its status.
    ...(RESIZE_STATUSES.includes(value) ? [] : [FieldError.notSupported(path, name, RESIZE_STATUSES)]),
  ]);
}

function validateAllocatedResources({ status }: PersistentVolumeClaim): FieldError[] {
  const path = STATUS.child('allocatedResources');
  return Object.entries(status?.allocatedResources ?? {}).flatMap(([name, amount]) => {
    const keyErrors = validateResourceKey(path, name);
    if (keyErrors.length > 0) return keyErrors;
    const basic = basicResource(path.key(name), amount);
    return basic.length > 0 ? basic : validateResourceAmount(path.key(name), 'storage', amount);
  });
}

function validateResourceKey(path: Path, name: string): readonly FieldError[] {
  const errors = invalidErrors(path, name, checkQualifiedName(name));
  return errors.length > 0 || !isNativeResource(name) ? errors : supportedValue(path, name, ['storage']);
}
