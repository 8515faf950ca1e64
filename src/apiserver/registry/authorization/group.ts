import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import {
  localSubjectAccessReviewsStrategy,
  selfSubjectAccessReviewsStrategy,
  selfSubjectRulesReviewsStrategy,
  subjectAccessReviewsStrategy,
} from './reviews.ts';

export const AUTHORIZATION: RegistryGroup = registryGroup([
  localSubjectAccessReviewsStrategy,
  selfSubjectAccessReviewsStrategy,
  selfSubjectRulesReviewsStrategy,
  subjectAccessReviewsStrategy,
]);
