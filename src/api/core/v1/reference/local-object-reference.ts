import { atomic, field, type Infer, object, string } from '../../../schema.ts';

export const LocalObjectReference = atomic(
  object('io.k8s.api.core.v1.LocalObjectReference', 'Names an object of the same namespace.', {
    name: field(1, string, 'The name of the object.', { default: '' }),
  }),
);
export type LocalObjectReference = Infer<typeof LocalObjectReference>;
