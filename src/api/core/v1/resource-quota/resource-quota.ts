import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import {
  always,
  atomic,
  field,
  type Infer,
  kind,
  listOf,
  mapOf,
  named,
  object,
  pointer,
  quantity,
  required,
  string,
} from '../../../schema.ts';

export const ScopedResourceSelectorRequirement = object(
  'io.k8s.api.core.v1.ScopedResourceSelectorRequirement',
  'A demand on objects that count.',
  {
    scopeName: required(1, named('v1.ResourceQuotaScope'), 'The scope, such as PriorityClass or BestEffort.'),
    operator: required(2, named('v1.ScopeSelectorOperator'), 'In, NotIn, Exists or DoesNotExist.'),
    values: field(3, listOf(string), 'The values to compare with.'),
  },
);
export type ScopedResourceSelectorRequirement = Infer<typeof ScopedResourceSelectorRequirement>;

export const ScopeSelector = atomic(
  object('io.k8s.api.core.v1.ScopeSelector', 'Which objects count towards a quota.', {
    matchExpressions: field(1, listOf(ScopedResourceSelectorRequirement), 'Demands, all of which must hold.'),
  }),
);
export type ScopeSelector = Infer<typeof ScopeSelector>;

export const ResourceQuotaSpec = object('io.k8s.api.core.v1.ResourceQuotaSpec', 'The caps.', {
  hard: field(1, mapOf(quantity), 'The most that may be used, by resource, such as pods or requests.cpu.'),
  scopes: field(2, listOf(named('v1.ResourceQuotaScope')), 'Which objects count; all must match.'),
  scopeSelector: pointer(3, ScopeSelector, 'Selects the counted objects by scope, operator and values.'),
});
export type ResourceQuotaSpec = Infer<typeof ResourceQuotaSpec>;

export const ResourceQuotaStatus = object('io.k8s.api.core.v1.ResourceQuotaStatus', 'Caps and use.', {
  hard: field(1, mapOf(quantity), 'The caps in force.'),
  used: field(2, mapOf(quantity), 'What is used.'),
});
export type ResourceQuotaStatus = Infer<typeof ResourceQuotaStatus>;

export const ResourceQuota = kind(
  {
    name: 'io.k8s.api.core.v1.ResourceQuota',
    group: '',
    version: 'v1',
    kind: 'ResourceQuota',
    resource: 'resourcequotas',
    namespaced: true,
    shortNames: ['quota'],
  },
  'Caps what a namespace may use in total.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, ResourceQuotaSpec, 'What is wanted.'),
    status: always(3, ResourceQuotaStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type ResourceQuota = Infer<typeof ResourceQuota>;
