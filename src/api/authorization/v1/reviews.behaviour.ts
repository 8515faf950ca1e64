import type { KindBehaviour } from '../../behaviour.ts';
import {
  validateLocalSubjectAccessReview,
  validateSelfSubjectAccessReview,
  validateSubjectAccessReview,
} from './access-review.validation.ts';
import { LocalSubjectAccessReview } from './local-subject-access-review.ts';
import { SelfSubjectAccessReview } from './self-subject-access-review.ts';
import { SelfSubjectRulesReview } from './self-subject-rules-review.ts';
import { SubjectAccessReview } from './subject-access-review.ts';

/** Reviews are answered, never stored. */
export const localSubjectAccessReviewBehaviour: KindBehaviour<LocalSubjectAccessReview> = {
  kind: LocalSubjectAccessReview,
  validate: validateLocalSubjectAccessReview,
};
export const selfSubjectAccessReviewBehaviour: KindBehaviour<SelfSubjectAccessReview> = {
  kind: SelfSubjectAccessReview,
  validate: validateSelfSubjectAccessReview,
};
export const selfSubjectRulesReviewBehaviour: KindBehaviour<SelfSubjectRulesReview> = { kind: SelfSubjectRulesReview };
export const subjectAccessReviewBehaviour: KindBehaviour<SubjectAccessReview> = {
  kind: SubjectAccessReview,
  validate: validateSubjectAccessReview,
};
