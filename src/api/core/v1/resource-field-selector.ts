import { always, atomic, field, type Infer, object, quantity, required, string } from '../../schema.ts';

export const ResourceFieldSelector = atomic(
  object('io.k8s.api.core.v1.ResourceFieldSelector', '', {
    containerName: field(1, string),
    resource: required(2, string),
    divisor: always(3, quantity),
  }),
);
export type ResourceFieldSelector = Infer<typeof ResourceFieldSelector>;
