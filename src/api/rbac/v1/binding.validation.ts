import { pushAll } from '#base';
import { checkPathSegmentName, FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { invalidErrors, requiredName, sameValue } from '../../field-checks.ts';
import { goStruct } from '../../go-struct.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { ClusterRoleBinding } from './cluster-role-binding.ts';
import type { RoleBinding } from './role-binding.ts';
import { RoleRef } from './role-ref.ts';
import type { Subject } from './subject.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLE_REF = Path.of('roleRef');
const SUBJECTS = Path.of('subjects');

export const nameIsRbacName = (name: string) => checkPathSegmentName(name);

interface Scope {
  readonly namespaced: boolean;
  readonly roleKinds: readonly string[];
}

const NAMESPACED: Scope = { namespaced: true, roleKinds: ['Role', 'ClusterRole'] };
const CLUSTER: Scope = { namespaced: false, roleKinds: ['ClusterRole'] };

export const validateRoleBinding = (binding: RoleBinding) => validateBinding(binding, NAMESPACED);
export const validateClusterRoleBinding = (binding: ClusterRoleBinding) => validateBinding(binding, CLUSTER);
export const validateRoleBindingUpdate = (binding: RoleBinding, old: RoleBinding) => validateUpdate(binding, old, NAMESPACED);
export const validateClusterRoleBindingUpdate = (binding: ClusterRoleBinding, old: ClusterRoleBinding) =>
  validateUpdate(binding, old, CLUSTER);

function validateBinding({ metadata, roleRef, subjects = [] }: RoleBinding, { namespaced, roleKinds }: Scope): FieldError[] {
  const errors = validateObjectMeta(metadata, { namespaced, nameRule: nameIsRbacName });
  const group = roleRef?.apiGroup ?? '';
  const kind = roleRef?.kind ?? '';
  if (group !== GROUP) errors.push(FieldError.notSupported(ROLE_REF.child('apiGroup'), group, [GROUP]));
  if (!roleKinds.includes(kind)) errors.push(FieldError.notSupported(ROLE_REF.child('kind'), kind, roleKinds));
  pushAll(errors, requiredName(ROLE_REF.child('name'), roleRef?.name, checkPathSegmentName));
  return [...errors, ...itemErrors(subjects, (subject, i) => validateSubject(SUBJECTS.index(i), subject, namespaced))];
}

function validateSubject(path: Path, subject: Subject, namespaced: boolean): FieldError[] {
  const { kind = '', name = '', apiGroup = '', namespace = '' } = subject;
  const errors = name === '' ? [FieldError.required(path.child('name'))] : [];
  if (kind === 'User' || kind === 'Group') {
    return apiGroup === GROUP ? errors : [...errors, FieldError.notSupported(path.child('apiGroup'), apiGroup, [GROUP])];
  }
  if (kind !== 'ServiceAccount') {
    return [...errors, FieldError.notSupported(path.child('kind'), kind, ['ServiceAccount', 'User', 'Group'])];
  }
  if (name !== '') pushAll(errors, invalidErrors(path.child('name'), name, nameIsDnsSubdomain(name, false)));
  if (apiGroup !== '') errors.push(FieldError.notSupported(path.child('apiGroup'), apiGroup, ['']));
  if (!namespaced && namespace === '') errors.push(FieldError.required(path.child('namespace')));
  return errors;
}

/** roleRef is immutable; subjects are not. */
function validateUpdate(binding: RoleBinding, old: RoleBinding, scope: Scope): FieldError[] {
  const errors = [...validateBinding(binding, scope), ...validateObjectMetaUpdate(binding.metadata, old.metadata)];
  if (sameValue(binding.roleRef, old.roleRef)) return errors;
  return [...errors, FieldError.invalid(ROLE_REF, goStruct(RoleRef, binding.roleRef), 'cannot change roleRef')];
}
