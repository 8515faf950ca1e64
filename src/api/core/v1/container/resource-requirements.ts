import { field, type Infer, mapListOf, mapOf, object, quantity, required, string } from '../../../schema.ts';

export const ResourceClaim = object('io.k8s.api.core.v1.ResourceClaim', 'A claim of the pod that a container uses.', {
  name: required(1, string, 'The name.'),
  request: field(2, string, 'The request of the claim; all by default.'),
});
export type ResourceClaim = Infer<typeof ResourceClaim>;

export const ResourceRequirements = object('io.k8s.api.core.v1.ResourceRequirements', 'What a container needs and may use.', {
  limits: field(1, mapOf(quantity), 'The most it may use, by resource.'),
  requests: field(2, mapOf(quantity), 'What it is sure to get, by resource; the limits by default.'),
  claims: field(3, mapListOf(ResourceClaim, 'name'), 'ResourceClaims of the pod that the container uses.'),
});
export type ResourceRequirements = Infer<typeof ResourceRequirements>;
