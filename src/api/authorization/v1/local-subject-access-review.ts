import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, required } from '../../schema.ts';
import { SubjectAccessReviewSpec } from './subject-access-review-spec.ts';
import { SubjectAccessReviewStatus } from './subject-access-review-status.ts';

export const LocalSubjectAccessReview = kind(
  {
    name: 'io.k8s.api.authorization.v1.LocalSubjectAccessReview',
    group: 'authorization.k8s.io',
    version: 'v1',
    kind: 'LocalSubjectAccessReview',
    resource: 'localsubjectaccessreviews',
    namespaced: true,
  },
  'Asks whether someone may do something in a namespace.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, SubjectAccessReviewSpec, 'Who, and what.'),
    status: always(3, SubjectAccessReviewStatus, 'The answer.'),
  },
);
export type LocalSubjectAccessReview = Infer<typeof LocalSubjectAccessReview>;
