import { field, type Infer, inlined, listOf, object, pointer, string } from '../../schema.ts';

export const Rule = object('io.k8s.api.admissionregistration.v1.Rule', '', {
  apiGroups: field(1, listOf(string)),
  apiVersions: field(2, listOf(string)),
  resources: field(3, listOf(string)),
  scope: pointer(4, string),
});
export type Rule = Infer<typeof Rule>;

export const RuleWithOperations = object('io.k8s.api.admissionregistration.v1.RuleWithOperations', '', {
  operations: field(1, listOf(string)),
  ...inlined(2, Rule),
});
export type RuleWithOperations = Infer<typeof RuleWithOperations>;
