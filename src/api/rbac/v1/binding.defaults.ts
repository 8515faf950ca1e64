import { fillZero, mapField, mapItems } from '../../defaulting.ts';
import type { RoleRef } from './role-ref.ts';
import type { Subject } from './subject.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** Defaults of RoleBindings and ClusterRoleBindings: everything referenced is in this group, except service accounts. */
export function defaultBinding<T extends { readonly roleRef: RoleRef; readonly subjects?: readonly Subject[] }>(binding: T): T {
  const withRole = mapField(binding, 'roleRef', (roleRef) => fillZero(roleRef as RoleRef, { apiGroup: GROUP }) as T['roleRef']);
  return mapField(withRole, 'subjects', (subjects) => mapItems(subjects as readonly Subject[], defaultSubject) as T['subjects']);
}

function defaultSubject(subject: Subject): Subject {
  return subject.kind === 'User' || subject.kind === 'Group' ? fillZero(subject, { apiGroup: GROUP }) : subject;
}
