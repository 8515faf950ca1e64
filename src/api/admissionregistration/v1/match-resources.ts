import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { atomic, field, type Infer, inlined, listOf, object, pointer, string } from '../../schema.ts';
import { RuleWithOperations } from './rule-with-operations.ts';

export const NamedRuleWithOperations = atomic(
  object('io.k8s.api.admissionregistration.v1.NamedRuleWithOperations', '', {
    resourceNames: field(1, listOf(string)),
    ...inlined(2, RuleWithOperations),
  }),
);
export type NamedRuleWithOperations = Infer<typeof NamedRuleWithOperations>;

export const MatchResources = atomic(
  object('io.k8s.api.admissionregistration.v1.MatchResources', '', {
    namespaceSelector: pointer(1, LabelSelector),
    objectSelector: pointer(2, LabelSelector),
    resourceRules: field(3, listOf(NamedRuleWithOperations)),
    excludeResourceRules: field(4, listOf(NamedRuleWithOperations)),
    matchPolicy: pointer(7, string),
  }),
);
export type MatchResources = Infer<typeof MatchResources>;
