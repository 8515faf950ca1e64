import { authentication } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

const REVIEW = { verbs: ['create'], isStored: false } as const;

export const selfSubjectReviewsStrategy: ResourceStrategy<authentication.SelfSubjectReview> = {
  ...authentication.selfSubjectReviewBehaviour,
  ...REVIEW,
};
export const tokenReviewsStrategy: ResourceStrategy<authentication.TokenReview> = { ...authentication.tokenReviewBehaviour, ...REVIEW };
