import { authorization } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

const REVIEW = { verbs: ['create'], isStored: false } as const;

export const localSubjectAccessReviewsStrategy: ResourceStrategy<authorization.LocalSubjectAccessReview> = {
  ...authorization.localSubjectAccessReviewBehaviour,
  ...REVIEW,
};
export const selfSubjectAccessReviewsStrategy: ResourceStrategy<authorization.SelfSubjectAccessReview> = {
  ...authorization.selfSubjectAccessReviewBehaviour,
  ...REVIEW,
};
export const selfSubjectRulesReviewsStrategy: ResourceStrategy<authorization.SelfSubjectRulesReview> = {
  ...authorization.selfSubjectRulesReviewBehaviour,
  ...REVIEW,
};
export const subjectAccessReviewsStrategy: ResourceStrategy<authorization.SubjectAccessReview> = {
  ...authorization.subjectAccessReviewBehaviour,
  ...REVIEW,
};
