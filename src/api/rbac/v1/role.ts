import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, listOf } from '../../schema.ts';
import { PolicyRule } from './policy-rule.ts';

export const Role = kind(
  { name: 'io.k8s.api.rbac.v1.Role', group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role', resource: 'roles', namespaced: true },
  'A set of permissions in one namespace.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    rules: always(2, listOf(PolicyRule), 'The permissions.'),
  },
);
export type Role = Infer<typeof Role>;
