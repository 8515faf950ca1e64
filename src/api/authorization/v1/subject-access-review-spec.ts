import { field, type Infer, listOf, mapOf, named, object, pointer, string, unmarkedListOf } from '../../schema.ts';
import { NonResourceAttributes } from './non-resource-attributes.ts';
import { ResourceAttributes } from './resource-attributes.ts';

export const SubjectAccessReviewSpec = object('io.k8s.api.authorization.v1.SubjectAccessReviewSpec', 'Who, and what.', {
  resourceAttributes: pointer(1, ResourceAttributes, 'The request, if it is for a resource.'),
  nonResourceAttributes: pointer(2, NonResourceAttributes, 'The request, if it is for another path.'),
  user: field(3, string, 'The user.'),
  groups: field(4, listOf(string), "The user's groups."),
  extra: field(5, mapOf(named('v1.ExtraValue', unmarkedListOf(string))), 'Anything else known of the user.'),
  uid: field(6, string, "The user's id."),
});
export type SubjectAccessReviewSpec = Infer<typeof SubjectAccessReviewSpec>;
