import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, atomic, field, type Infer, kind, listOf, mapOf, object, pointer, quantity, required, string } from '../../schema.ts';

export const ScopedResourceSelectorRequirement = object('io.k8s.api.core.v1.ScopedResourceSelectorRequirement', '', {
  scopeName: required(1, string),
  operator: required(2, string),
  values: field(3, listOf(string)),
});
export type ScopedResourceSelectorRequirement = Infer<typeof ScopedResourceSelectorRequirement>;

export const ScopeSelector = atomic(
  object('io.k8s.api.core.v1.ScopeSelector', '', {
    matchExpressions: field(1, listOf(ScopedResourceSelectorRequirement)),
  }),
);
export type ScopeSelector = Infer<typeof ScopeSelector>;

export const ResourceQuotaSpec = object('io.k8s.api.core.v1.ResourceQuotaSpec', '', {
  hard: field(1, mapOf(quantity)),
  scopes: field(2, listOf(string)),
  scopeSelector: pointer(3, ScopeSelector),
});
export type ResourceQuotaSpec = Infer<typeof ResourceQuotaSpec>;

export const ResourceQuotaStatus = object('io.k8s.api.core.v1.ResourceQuotaStatus', '', {
  hard: field(1, mapOf(quantity)),
  used: field(2, mapOf(quantity)),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, ResourceQuotaSpec),
    status: always(3, ResourceQuotaStatus),
  },
);
export type ResourceQuota = Infer<typeof ResourceQuota>;
