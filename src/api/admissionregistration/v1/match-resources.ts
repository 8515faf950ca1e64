import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { atomic, field, type Infer, inlined, listOf, named, object, pointer, string } from '../../schema.ts';
import { RuleWithOperations } from './rule-with-operations.ts';

export const NamedRuleWithOperations = atomic(
  object('io.k8s.api.admissionregistration.v1.NamedRuleWithOperations', 'Requests, by operation, resource and name.', {
    resourceNames: field(1, listOf(string), 'The objects; all when empty.'),
    ...inlined(2, RuleWithOperations),
  }),
);
export type NamedRuleWithOperations = Infer<typeof NamedRuleWithOperations>;

export const MatchResources = atomic(
  object('io.k8s.api.admissionregistration.v1.MatchResources', 'Which requests.', {
    namespaceSelector: pointer(1, LabelSelector, 'Labels of the namespaces that count.'),
    objectSelector: pointer(2, LabelSelector, 'Labels of the objects that count.'),
    resourceRules: field(3, listOf(NamedRuleWithOperations), 'Requests that count; one must match.'),
    excludeResourceRules: field(4, listOf(NamedRuleWithOperations), 'Requests that do not count.'),
    matchPolicy: pointer(7, named('v1.MatchPolicyType'), 'Whether requests in other versions count: Equivalent (the default) or Exact.'),
  }),
);
export type MatchResources = Infer<typeof MatchResources>;
