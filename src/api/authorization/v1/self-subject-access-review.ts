import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, object, pointer, required } from '../../schema.ts';
import { NonResourceAttributes } from './non-resource-attributes.ts';
import { ResourceAttributes } from './resource-attributes.ts';
import { SubjectAccessReviewStatus } from './subject-access-review-status.ts';

export const SelfSubjectAccessReviewSpec = object(
  'io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec',
  'The action to check for the calling user.',
  {
    resourceAttributes: pointer(1, ResourceAttributes, 'The request, if it is for a resource.'),
    nonResourceAttributes: pointer(2, NonResourceAttributes, 'The request, if it is for another path.'),
  },
);
export type SelfSubjectAccessReviewSpec = Infer<typeof SelfSubjectAccessReviewSpec>;

export const SelfSubjectAccessReview = kind(
  {
    name: 'io.k8s.api.authorization.v1.SelfSubjectAccessReview',
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectAccessReview',
    resource: 'selfsubjectaccessreviews',
    namespaced: false,
  },
  'Asks whether the caller may do something.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, SelfSubjectAccessReviewSpec, 'What.'),
    status: always(3, SubjectAccessReviewStatus, 'The answer.'),
  },
);
export type SelfSubjectAccessReview = Infer<typeof SelfSubjectAccessReview>;
