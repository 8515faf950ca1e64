import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind, object } from '../../schema.ts';
import { UserInfo } from './user-info.ts';

export const SelfSubjectReviewStatus = object('io.k8s.api.authentication.v1.SelfSubjectReviewStatus', 'Who the caller is.', {
  userInfo: always(1, UserInfo, "The caller's name, groups and so on."),
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
  'Returns the attributes of the calling user.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    status: always(2, SelfSubjectReviewStatus, 'Who the caller is.'),
  },
);
export type SelfSubjectReview = Infer<typeof SelfSubjectReview>;
