import type { KindBehaviour } from '../../behaviour.ts';
import { SelfSubjectReview } from './self-subject-review.ts';
import { TokenReview } from './token-review.ts';

/** Reviews are asked and answered, never stored. What is wrong with a token review is said before it is validated. */
export const selfSubjectReviewBehaviour: KindBehaviour<SelfSubjectReview> = { kind: SelfSubjectReview };
export const tokenReviewBehaviour: KindBehaviour<TokenReview> = { kind: TokenReview };
