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
  '',
  {
    metadata: always(1, ObjectMeta),
    subjects: field(2, listOf(Subject)),
    roleRef: required(3, RoleRef),
  },
);
export type ClusterRoleBinding = Infer<typeof ClusterRoleBinding>;
