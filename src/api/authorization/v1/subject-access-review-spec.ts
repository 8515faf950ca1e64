import { field, type Infer, listOf, mapOf, object, pointer, string } from '../../schema.ts';
import { NonResourceAttributes } from './non-resource-attributes.ts';
import { ResourceAttributes } from './resource-attributes.ts';

export const SubjectAccessReviewSpec = object('io.k8s.api.authorization.v1.SubjectAccessReviewSpec', '', {
  resourceAttributes: pointer(1, ResourceAttributes),
  nonResourceAttributes: pointer(2, NonResourceAttributes),
  user: field(3, string),
  groups: field(4, listOf(string)),
  extra: field(5, mapOf(listOf(string))),
  uid: field(6, string),
});
export type SubjectAccessReviewSpec = Infer<typeof SubjectAccessReviewSpec>;
