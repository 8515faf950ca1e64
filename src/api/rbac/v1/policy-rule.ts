import { field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const PolicyRule = object('io.k8s.api.rbac.v1.PolicyRule', '', {
  verbs: required(1, listOf(string)),
  apiGroups: field(2, listOf(string)),
  resources: field(3, listOf(string)),
  resourceNames: field(4, listOf(string)),
  nonResourceURLs: field(5, listOf(string)),
});
export type PolicyRule = Infer<typeof PolicyRule>;
