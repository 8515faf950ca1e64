import { field, type Infer, listOf, object, required, string } from '../../schema.ts';

export const PolicyRule = object('io.k8s.api.rbac.v1.PolicyRule', 'What may be done with what.', {
  verbs: required(1, listOf(string), 'What may be done: get, list, watch, create, update, patch, delete and so on; * for all.'),
  apiGroups: field(2, listOf(string), "The API groups; '' is the core group, * all."),
  resources: field(3, listOf(string), 'The resources, with subresources as in pods/log; * for all.'),
  resourceNames: field(4, listOf(string), 'The objects; all when empty.'),
  nonResourceURLs: field(5, listOf(string), 'Paths that are no resources, such as /healthz; in cluster roles only.'),
});
export type PolicyRule = Infer<typeof PolicyRule>;
