import { atomic, field, type Infer, object, required, string } from '../../schema.ts';

export const ObjectFieldSelector = atomic(
  object('io.k8s.api.core.v1.ObjectFieldSelector', '', {
    apiVersion: field(1, string),
    fieldPath: required(2, string),
  }),
);
export type ObjectFieldSelector = Infer<typeof ObjectFieldSelector>;
