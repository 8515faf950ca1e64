import { field, type Infer, mapListOf, mapOf, object, quantity, required, string } from '../../schema.ts';

export const ResourceClaim = object('io.k8s.api.core.v1.ResourceClaim', '', {
  name: required(1, string),
  request: field(2, string),
});
export type ResourceClaim = Infer<typeof ResourceClaim>;

export const ResourceRequirements = object('io.k8s.api.core.v1.ResourceRequirements', '', {
  limits: field(1, mapOf(quantity)),
  requests: field(2, mapOf(quantity)),
  claims: field(3, mapListOf(ResourceClaim, 'name')),
});
export type ResourceRequirements = Infer<typeof ResourceRequirements>;
