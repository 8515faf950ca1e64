import { atomic, field, type Infer, object, required, string } from '../../schema.ts';

export const Subject = atomic(
  object('io.k8s.api.rbac.v1.Subject', '', {
    kind: required(1, string),
    apiGroup: field(2, string),
    name: required(3, string),
    namespace: field(4, string),
  }),
);
export type Subject = Infer<typeof Subject>;
