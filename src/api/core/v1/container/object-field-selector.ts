import { atomic, field, type Infer, object, required, string } from '../../../schema.ts';

export const ObjectFieldSelector = atomic(
  object('io.k8s.api.core.v1.ObjectFieldSelector', 'Picks a field of the pod.', {
    apiVersion: field(1, string, 'The version that fieldPath is written for; v1 by default.'),
    fieldPath: required(2, string, 'The path of the field, such as metadata.name.'),
  }),
);
export type ObjectFieldSelector = Infer<typeof ObjectFieldSelector>;
