import { selectorFromObject } from '#machinery';
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../core/v1/resource-quota/resource-quota.ts';

/** All scopes of a quota in one form. */
export function scopeRequirements({ scopes = [], scopeSelector }: ResourceQuotaSpec): readonly ScopedResourceSelectorRequirement[] {
  return [...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })), ...(scopeSelector?.matchExpressions ?? [])];
}

/** Whether one of an object's values for a scope (its priority class, its volume attributes classes) matches. */
export function namesMatchScope({ scopeName, operator, values }: ScopedResourceSelectorRequirement, names: readonly string[]): boolean {
  if (operator === 'Exists') return names.length > 0;
  const selector = selectorFromObject({ matchExpressions: [{ key: scopeName, operator, ...(values && { values }) }] });
  if (names.length === 0) return selector.matches({});
  return names.some((name) => selector.matches({ [scopeName]: name }));
}
