import { bool, field, type Infer, object, required, string } from '../../schema.ts';

export const SubjectAccessReviewStatus = object('io.k8s.api.authorization.v1.SubjectAccessReviewStatus', 'Whether it is allowed.', {
  allowed: required(1, bool, 'Whether it is allowed.'),
  denied: field(4, bool, 'Whether the request is denied without consulting further authorizers.'),
  reason: field(2, string, 'Why.'),
  evaluationError: field(3, string, 'What went wrong while finding out.'),
});
export type SubjectAccessReviewStatus = Infer<typeof SubjectAccessReviewStatus>;
