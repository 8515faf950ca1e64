import { atomic, field, type Infer, object, string } from '../../schema.ts';

export const LocalObjectReference = atomic(
  object('io.k8s.api.core.v1.LocalObjectReference', '', {
    name: field(1, string),
  }),
);
export type LocalObjectReference = Infer<typeof LocalObjectReference>;
