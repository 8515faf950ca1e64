import { atomic, field, type Infer, object, string } from '../../schema.ts';

export const ObjectReference = atomic(
  object('io.k8s.api.core.v1.ObjectReference', '', {
    kind: field(1, string),
    namespace: field(2, string),
    name: field(3, string),
    uid: field(4, string),
    apiVersion: field(5, string),
    resourceVersion: field(6, string),
    fieldPath: field(7, string),
  }),
);
export type ObjectReference = Infer<typeof ObjectReference>;
