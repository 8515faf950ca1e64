import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, object, pointer, required } from '../../schema.ts';
import { NonResourceAttributes } from './non-resource-attributes.ts';
import { ResourceAttributes } from './resource-attributes.ts';
import { SubjectAccessReviewStatus } from './subject-access-review-status.ts';

export const SelfSubjectAccessReviewSpec = object('io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec', '', {
  resourceAttributes: pointer(1, ResourceAttributes),
  nonResourceAttributes: pointer(2, NonResourceAttributes),
});
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: required(2, SelfSubjectAccessReviewSpec),
    status: always(3, SubjectAccessReviewStatus),
  },
);
export type SelfSubjectAccessReview = Infer<typeof SelfSubjectAccessReview>;
