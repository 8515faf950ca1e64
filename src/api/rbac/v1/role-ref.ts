import { always, atomic, type Infer, object, required, string } from '../../schema.ts';

export const RoleRef = atomic(
  object('io.k8s.api.rbac.v1.RoleRef', 'A role.', {
    apiGroup: always(1, string, "The role's API group, rbac.authorization.k8s.io."),
    kind: required(2, string, 'Role or ClusterRole.'),
    name: required(3, string, "The role's name."),
  }),
);
export type RoleRef = Infer<typeof RoleRef>;
