import { always, atomic, field, type Infer, object, quantity, required, string } from '../../../schema.ts';

export const ResourceFieldSelector = atomic(
  object('io.k8s.api.core.v1.ResourceFieldSelector', 'Picks a resource of a container.', {
    containerName: field(1, string, 'The container; needed in volumes.'),
    resource: required(2, string, 'The resource, such as limits.cpu.'),
    divisor: always(3, quantity, 'The unit to count in; 1 by default.'),
  }),
);
export type ResourceFieldSelector = Infer<typeof ResourceFieldSelector>;
