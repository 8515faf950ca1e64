import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, required } from '../../schema.ts';
import { SubjectAccessReviewSpec } from './subject-access-review-spec.ts';
import { SubjectAccessReviewStatus } from './subject-access-review-status.ts';

export const SubjectAccessReview = kind(
  {
    name: 'io.k8s.api.authorization.v1.SubjectAccessReview',
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'SubjectAccessReview',
    resource: 'subjectaccessreviews',
    namespaced: false,
  },
  'Asks whether someone may do something.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, SubjectAccessReviewSpec, 'Who, and what.'),
    status: always(3, SubjectAccessReviewStatus, 'The answer.'),
  },
);
export type SubjectAccessReview = Infer<typeof SubjectAccessReview>;
