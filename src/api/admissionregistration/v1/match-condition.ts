import { type Infer, object, required, string } from '../../schema.ts';

export const MatchCondition = object('io.k8s.api.admissionregistration.v1.MatchCondition', 'A CEL expression that must be true.', {
  name: required(1, string, 'A name for the condition.'),
  expression: required(2, string, 'The expression.'),
});
export type MatchCondition = Infer<typeof MatchCondition>;
