import type { KindBehaviour } from '../../behaviour.ts';
import { SelfSubjectReview } from './self-subject-review.ts';
import { TokenReview } from './token-review.ts';

/** Reviews are answered, never stored. Errors of a token review come before validation. */
export const selfSubjectReviewBehaviour: KindBehaviour<SelfSubjectReview> = { kind: SelfSubjectReview };
export const tokenReviewBehaviour: KindBehaviour<TokenReview> = { kind: TokenReview };
