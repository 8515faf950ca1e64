import { pushAll } from '#base';
import { checkLabelKey, FieldError, goQuote, itemErrors, MAX_FIELD_ERRORS, type NameCheck, nameIsDnsLabel, Path } from '#machinery';
import { validateLabels } from './label.validation.ts';
import { validateManagedFields } from './managed-fields.validation.ts';
import type { ObjectMeta, OwnerReference } from './object-meta.ts';

export const ANNOTATIONS_SIZE_LIMIT = 256 * 1024;
const ORPHAN_DEPENDENTS = 'orphan';
const DELETE_DEPENDENTS = 'foregroundDeletion';
const NO_ERRORS: readonly FieldError[] = [];
const STANDARD_FINALIZERS = new Set(['kubernetes', ORPHAN_DEPENDENTS, DELETE_DEPENDENTS]);
export const FIELD_IS_IMMUTABLE = 'field is immutable';
export const METADATA = Path.of('metadata');

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  /** Validates a name; `prefix`: a suffix will be appended to it. */
  readonly nameRule: NameCheck;
  /** Default: `metadata`. */
  readonly path?: Path;
  /** Accepts finalizers without a domain, for groups without the core group's stricter rule. */
  readonly anyFinalizer?: boolean;
}

type Update = { readonly path?: Path; readonly anyFinalizer?: boolean };

/** Not spread into a call: there may be more errors than the maximum number of arguments. */
function addAll(errors: FieldError[], added: readonly FieldError[]): void {
  for (const error of added) errors.push(error);
}

/** Validates metadata on create, after name generation. */
export function validateObjectMeta(meta: ObjectMeta = {}, rules: ObjectMetaRules): FieldError[] {
  const path = rules.path ?? METADATA;
  const errors = validateNames(meta, rules, path);
  validateNamespace(meta.namespace, rules.namespaced, { path, errors });
  if ((meta.generation ?? 0) < 0) pushAll(errors, validateNonNegative(meta.generation, path.child('generation')));
  if (meta.labels) addAll(errors, validateLabels(meta.labels, path.child('labels')));
  if (meta.annotations) addAll(errors, validateAnnotations(meta.annotations, path.child('annotations')));
  if (meta.ownerReferences) addAll(errors, validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')));
  if (meta.finalizers) addAll(errors, validateFinalizers(meta.finalizers, path.child('finalizers')));
  if (meta.managedFields) addAll(errors, validateManagedFields(meta.managedFields, path.child('managedFields')));
  if (meta.finalizers && !rules.anyFinalizer) addAll(errors, validateKubeFinalizers(meta.finalizers, path));
  return errors;
}

/** Validates metadata on update: identity and server-owned fields are immutable. The resource version is checked earlier. */
export function validateObjectMetaUpdate(meta: ObjectMeta = {}, old: ObjectMeta = {}, rules: Update = {}): FieldError[] {
  const path = rules.path ?? METADATA;
  const errors: FieldError[] = [];
  if (isUnchangedMeta(meta, old)) {
    if (meta.managedFields) addAll(errors, validateManagedFields(meta.managedFields, path.child('managedFields')));
    return errors;
  }
  if (old.deletionTimestamp) addAll(errors, validateNoNewFinalizers(meta.finalizers, old.finalizers, path.child('finalizers')));
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(FieldError.invalid(path.child('generation'), meta.generation ?? 0, 'must not be decremented'));
  }
  validateIdentity(meta, old, { path, errors });
  if (meta.labels) addAll(errors, validateLabels(meta.labels, path.child('labels')));
  if (meta.annotations) addAll(errors, validateAnnotations(meta.annotations, path.child('annotations')));
  if (meta.ownerReferences) addAll(errors, validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')));
  if (meta.managedFields) addAll(errors, validateManagedFields(meta.managedFields, path.child('managedFields')));
  if (meta.finalizers && !rules.anyFinalizer) addAll(errors, validateKubeFinalizers(meta.finalizers, path));
  return errors;
}

/**
 * Whether an update left everything in the metadata as it is stored, and therefore valid, but for what changes with every write: ownership, version
 * and generation.
 */
export function isUnchangedMeta(meta: ObjectMeta, old: ObjectMeta): boolean {
  if (meta === old) return true;
  for (const key in meta) if (!isSameMember(key as keyof ObjectMeta, meta, old)) return false;
  for (const key in old) if (!isSameMember(key as keyof ObjectMeta, meta, old)) return false;
  return (meta.generation ?? 0) >= (old.generation ?? 0);
}

function isSameMember(key: keyof ObjectMeta, meta: ObjectMeta, old: ObjectMeta): boolean {
  return meta[key] === old[key] || key === 'managedFields' || key === 'resourceVersion' || key === 'generation';
}

interface Report {
  readonly path: Path;
  readonly errors: FieldError[];
}

const TEXT_IDENTITY = ['name', 'namespace', 'uid'] as const;
const OTHER_IDENTITY = ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

function validateIdentity(meta: ObjectMeta, old: ObjectMeta, { path, errors }: Report): void {
  for (const field of TEXT_IDENTITY) {
    const value = meta[field] ?? '';
    if (value !== (old[field] ?? '')) errors.push(FieldError.invalid(path.child(field), value, FIELD_IS_IMMUTABLE));
  }
  for (const field of OTHER_IDENTITY) {
    const value = meta[field] ?? null;
    if (value !== (old[field] ?? null)) errors.push(FieldError.invalid(path.child(field), value, FIELD_IS_IMMUTABLE));
  }
}

function validateNames(meta: ObjectMeta, { nameRule }: ObjectMetaRules, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName)
    pushInvalid(errors, { path: path.child('generateName'), value: meta.generateName }, nameRule(meta.generateName, true));
  if (!meta.name) errors.push(FieldError.required(path.child('name'), 'name or generateName is required'));
  else pushInvalid(errors, { path: path.child('name'), value: meta.name }, nameRule(meta.name, false));
  return errors;
}

function validateNamespace(namespace: string | undefined, namespaced: boolean, { path, errors }: Report): void {
  if (!namespaced) {
    if (namespace) errors.push(FieldError.forbidden(path.child('namespace'), 'not allowed on this type'));
  } else if (!namespace) {
    errors.push(FieldError.required(path.child('namespace')));
  } else {
    pushInvalid(errors, { path: path.child('namespace'), value: namespace }, nameIsDnsLabel(namespace, false));
  }
}

/** Adds one error per message about a value. */
export function pushInvalid(errors: FieldError[], { path, value }: { path: Path; value: unknown }, messages: readonly string[]): void {
  for (const message of messages) errors.push(FieldError.invalid(path, value, message));
}

export function validateNonNegative(value: number | undefined, path: Path): FieldError[] {
  return value !== undefined && value < 0 ? [FieldError.invalid(path, value, 'must be greater than or equal to 0')] : [];
}

/** Valid annotation sets: like labels, they would be validated on every update. */
const valid = new WeakSet<object>();
const NO_ANNOTATIONS: Readonly<Record<string, string>> = {};

export function validateAnnotations(annotations: Readonly<Record<string, string>> = NO_ANNOTATIONS, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (valid.has(annotations)) return errors;
  let size = 0;
  for (const key of Object.keys(annotations)) {
    if (errors.length >= MAX_FIELD_ERRORS) return errors;
    pushInvalid(errors, { path, value: key }, checkLabelKey(key.toLowerCase()));
    size += key.length + (annotations[key]?.length ?? 0);
  }
  // A UTF-16 unit has at most three bytes: shorter texts need no counting.
  if (size * 3 > ANNOTATIONS_SIZE_LIMIT && annotationsTooLong(annotations)) {
    errors.push(FieldError.tooLong(path, ANNOTATIONS_SIZE_LIMIT));
  }
  if (errors.length === 0) valid.add(annotations);
  return errors;
}

export function annotationsTooLong(annotations: Readonly<Record<string, string>>): boolean {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(value);
  return size > ANNOTATIONS_SIZE_LIMIT;
}

/** Each error may print the whole list: all of them would be quadratic in the input. */
const MAX_REFERENCE_ERRORS = 100;

export function validateOwnerReferences(references: readonly OwnerReference[], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const reference of references) {
    if (errors.length >= MAX_REFERENCE_ERRORS) break;
    pushAll(errors, validateOwnerReference(reference, path));
    if (!reference.controller) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === '') {
      controller = name;
      continue;
    }
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
    errors.push(FieldError.invalid(path, references.slice(0, MAX_REFERENCE_ERRORS).map(printedReference), detail));
  }
  return errors;
}

function validateOwnerReference(reference: OwnerReference, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  const { group, version } = ownerGroupVersion(reference.apiVersion ?? '');
  const invalid = (field: 'apiVersion' | 'kind' | 'name' | 'uid', detail: string) =>
    errors.push(FieldError.invalid(path.child(field), reference[field] ?? '', detail));
  if (version === '') invalid('apiVersion', 'version must not be empty');
  if (!reference.kind) invalid('kind', 'must not be empty');
  if (!reference.name) invalid('name', 'must not be empty');
  if (!reference.uid) invalid('uid', 'must not be empty');
  if (group === '' && version === 'v1' && reference.kind === 'Event') {
    errors.push(FieldError.invalid(path, printedReference(reference), '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

// An apiVersion with several slashes has no version.
function ownerGroupVersion(apiVersion: string): { group: string; version: string } {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return { group: '', version: '' };
  return { group: parts.length === 2 ? (parts[0] ?? '') : '', version: parts.at(-1) ?? '' };
}

// In upstream's order.
function printedReference({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference) {
  return { apiVersion: apiVersion ?? '', kind: kind ?? '', name: name ?? '', uid: uid ?? '', controller, blockOwnerDeletion };
}

export function validateFinalizers(finalizers: readonly string[], path: Path): FieldError[] {
  const errors = itemErrors(finalizers, (value) => checkLabelKey(value).map((message) => FieldError.invalid(path, value, message)));
  if (finalizers.includes(ORPHAN_DEPENDENTS) && finalizers.includes(DELETE_DEPENDENTS)) {
    const detail = `finalizer ${ORPHAN_DEPENDENTS} and ${DELETE_DEPENDENTS} cannot be both set`;
    errors.push(FieldError.invalid(path, finalizers, detail));
  }
  return errors;
}

/** The core group's rule: a finalizer is a standard one or has a domain. */
function validateKubeFinalizers(finalizers: readonly string[], path: Path): FieldError[] {
  return itemErrors(finalizers, (finalizer, i) => {
    if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return NO_ERRORS;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [FieldError.invalid(path.child('finalizers').index(i), finalizer, detail)];
  });
}

export function validateNoNewFinalizers(finalizers: readonly string[] = [], old: readonly string[] = [], path: Path): FieldError[] {
  const before = new Set(old);
  const extra = [...new Set(finalizers)].filter((finalizer) => !before.has(finalizer)).sort();
  if (extra.length === 0) return [];
  const list = `[]string{${extra.map((finalizer) => goQuote(finalizer)).join(', ')}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [FieldError.forbidden(path, detail)];
}
