import { atomic, type Infer, nullable, object, required, string } from '../../../schema.ts';

export const TypedLocalObjectReference = atomic(
  object('io.k8s.api.core.v1.TypedLocalObjectReference', 'An object of the same namespace.', {
    apiGroup: nullable(1, string, "The API group; '' for the core group."),
    kind: required(2, string, 'The kind.'),
    name: required(3, string, 'The name.'),
  }),
);
export type TypedLocalObjectReference = Infer<typeof TypedLocalObjectReference>;
