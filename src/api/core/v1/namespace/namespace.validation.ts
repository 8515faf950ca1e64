import { checkQualifiedName, FieldError, itemErrors, nameIsDnsLabel, Path } from '#machinery';
import { invalidErrors } from '../../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { Namespace } from './namespace.ts';

const STANDARD_FINALIZERS: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion'];
const FINALIZERS = Path.of('spec', 'finalizers');
const META = { namespaced: false, nameRule: nameIsDnsLabel };

export function validateNamespace(namespace: Namespace): FieldError[] {
  const finalizers = namespace.spec?.finalizers ?? [];
  return [...validateObjectMeta(namespace.metadata, META), ...finalizers.flatMap((name) => validateFinalizer(FINALIZERS, name))];
}

function validateFinalizer(path: Path, name: string): FieldError[] {
  const errors = [...invalidErrors(path, name, checkQualifiedName(name))];
  if (name.includes('/') || STANDARD_FINALIZERS.includes(name)) return errors;
  return [...errors, FieldError.invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified')];
}

export function validateNamespaceUpdate(namespace: Namespace, old: Namespace): FieldError[] {
  return [...validateNamespace(namespace), ...validateObjectMetaUpdate(namespace.metadata, old.metadata)];
}

export function validateNamespaceStatusUpdate(namespace: Namespace, old: Namespace): FieldError[] {
  const errors = validateObjectMetaUpdate(namespace.metadata, old.metadata);
  const phase = namespace.status?.phase ?? '';
  const deleted = Boolean(namespace.metadata.deletionTimestamp);
  const expected = deleted ? 'Terminating' : 'Active';
  if (phase === expected) return errors;
  const detail = `may only be '${expected}' if \`deletionTimestamp\` is ${deleted ? 'not ' : ''}empty`;
  return [...errors, FieldError.invalid(Path.of('status', 'Phase'), phase, detail)];
}

export function validateNamespaceFinalizeUpdate(namespace: Namespace, old: Namespace): FieldError[] {
  const finalizers = namespace.spec?.finalizers ?? [];
  return [
    ...validateObjectMetaUpdate(namespace.metadata, old.metadata),
    ...itemErrors(finalizers, (name, i) => validateFinalizer(FINALIZERS.index(i), name)),
  ];
}
