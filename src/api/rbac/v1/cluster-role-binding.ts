import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, required } from '../../schema.ts';
import { RoleRef } from './role-ref.ts';
import { Subject } from './subject.ts';

export const ClusterRoleBinding = kind(
  {
    name: 'io.k8s.api.rbac.v1.ClusterRoleBinding',
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'ClusterRoleBinding',
    resource: 'clusterrolebindings',
    namespaced: false,
  },
  'Grants a cluster role to users, groups and service accounts, everywhere.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    subjects: field(2, listOf(Subject), 'To whom.'),
    roleRef: required(3, RoleRef, 'Which cluster role. Cannot be changed.'),
  },
);
export type ClusterRoleBinding = Infer<typeof ClusterRoleBinding>;
