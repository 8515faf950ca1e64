import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, required } from '../../schema.ts';
import { RoleRef } from './role-ref.ts';
import { Subject } from './subject.ts';

export const RoleBinding = kind(
  {
    name: 'io.k8s.api.rbac.v1.RoleBinding',
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'RoleBinding',
    resource: 'rolebindings',
    namespaced: true,
  },
  'Grants a role to users, groups and service accounts, in one namespace.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    subjects: field(2, listOf(Subject), 'To whom.'),
    roleRef: required(3, RoleRef, 'Which role or cluster role. Cannot be changed.'),
  },
);
export type RoleBinding = Infer<typeof RoleBinding>;
