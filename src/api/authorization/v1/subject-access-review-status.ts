import { bool, field, type Infer, object, required, string } from '../../schema.ts';

export const SubjectAccessReviewStatus = object('io.k8s.api.authorization.v1.SubjectAccessReviewStatus', '', {
  allowed: required(1, bool),
  denied: field(4, bool),
  reason: field(2, string),
  evaluationError: field(3, string),
});
export type SubjectAccessReviewStatus = Infer<typeof SubjectAccessReviewStatus>;
