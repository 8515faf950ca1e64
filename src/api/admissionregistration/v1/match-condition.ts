import { type Infer, object, required, string } from '../../schema.ts';

export const MatchCondition = object('io.k8s.api.admissionregistration.v1.MatchCondition', '', {
  name: required(1, string),
  expression: required(2, string),
});
export type MatchCondition = Infer<typeof MatchCondition>;
