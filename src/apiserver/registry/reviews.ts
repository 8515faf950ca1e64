import { authentication, authorization } from '#api';
import type { ResourceStrategy } from './strategy.ts';

const VERBS = ['create'];

/** Questions to the server. They are answered by handlers of their own, which validate with these. */
export const REVIEW_STRATEGIES = [
  { ...authentication.selfSubjectReviewBehaviour, verbs: VERBS } satisfies ResourceStrategy<authentication.SelfSubjectReview>,
  { ...authentication.tokenReviewBehaviour, verbs: VERBS } satisfies ResourceStrategy<authentication.TokenReview>,
  { ...authorization.localSubjectAccessReviewBehaviour, verbs: VERBS } satisfies ResourceStrategy<authorization.LocalSubjectAccessReview>,
  { ...authorization.selfSubjectAccessReviewBehaviour, verbs: VERBS } satisfies ResourceStrategy<authorization.SelfSubjectAccessReview>,
  { ...authorization.selfSubjectRulesReviewBehaviour, verbs: VERBS } satisfies ResourceStrategy<authorization.SelfSubjectRulesReview>,
  { ...authorization.subjectAccessReviewBehaviour, verbs: VERBS } satisfies ResourceStrategy<authorization.SubjectAccessReview>,
] as const;
