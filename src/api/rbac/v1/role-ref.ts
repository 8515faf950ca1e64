import { always, atomic, type Infer, object, required, string } from '../../schema.ts';

export const RoleRef = atomic(
  object('io.k8s.api.rbac.v1.RoleRef', '', {
    apiGroup: always(1, string),
    kind: required(2, string),
    name: required(3, string),
  }),
);
export type RoleRef = Infer<typeof RoleRef>;
