import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { selfSubjectReviewsStrategy, tokenReviewsStrategy } from './reviews.ts';

export const AUTHENTICATION: RegistryGroup = registryGroup([selfSubjectReviewsStrategy, tokenReviewsStrategy]);
