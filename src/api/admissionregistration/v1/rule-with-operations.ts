import { field, type Infer, inlined, listOf, named, object, pointer, string } from '../../schema.ts';

export const Rule = object('io.k8s.api.admissionregistration.v1.Rule', 'Resources.', {
  apiGroups: field(1, listOf(string), 'The API groups; * for all.'),
  apiVersions: field(2, listOf(string), 'The API versions; * for all.'),
  resources: field(3, listOf(string), 'The resources, with subresources as in pods/status; * for all.'),
  scope: pointer(4, named('v1.ScopeType'), 'Cluster, Namespaced or * for both.'),
});
export type Rule = Infer<typeof Rule>;

export const RuleWithOperations = object('io.k8s.api.admissionregistration.v1.RuleWithOperations', 'Requests, by operation and resource.', {
  operations: field(1, listOf(named('v1.OperationType')), 'CREATE, UPDATE, DELETE, CONNECT or * for all.'),
  ...inlined(2, Rule),
});
export type RuleWithOperations = Infer<typeof RuleWithOperations>;
