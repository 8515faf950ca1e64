import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, object } from '../../schema.ts';
import { UserInfo } from './user-info.ts';

export const SelfSubjectReviewStatus = object('io.k8s.api.authentication.v1.SelfSubjectReviewStatus', '', {
  userInfo: always(1, UserInfo),
});
export type SelfSubjectReviewStatus = Infer<typeof SelfSubjectReviewStatus>;

export const SelfSubjectReview = kind(
  {
    name: 'io.k8s.api.authentication.v1.SelfSubjectReview',
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectReview',
    resource: 'selfsubjectreviews',
    namespaced: false,
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    status: always(2, SelfSubjectReviewStatus),
  },
);
export type SelfSubjectReview = Infer<typeof SelfSubjectReview>;
