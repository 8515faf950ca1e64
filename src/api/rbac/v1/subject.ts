import { atomic, field, type Infer, object, required, string } from '../../schema.ts';

export const Subject = atomic(
  object('io.k8s.api.rbac.v1.Subject', 'A user, group or service account.', {
    kind: required(1, string, 'User, Group or ServiceAccount.'),
    apiGroup: field(2, string, "The API group: '' for service accounts, rbac.authorization.k8s.io for the others."),
    name: required(3, string, 'The name.'),
    namespace: field(4, string, 'The namespace of a service account.'),
  }),
);
export type Subject = Infer<typeof Subject>;
