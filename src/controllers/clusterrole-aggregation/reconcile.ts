import type { rbac } from '#api';
import { compareBytes, deepEqual, type JsonValue, selectorFromObject } from '#machinery';

/** The rules that an aggregated role should have; undefined when it has them, or is not aggregated. */
export function aggregatedRules(role: rbac.ClusterRole, roles: readonly rbac.ClusterRole[]): readonly rbac.PolicyRule[] | undefined {
  if (role.aggregationRule === undefined) return undefined;
  const others = roles
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .sort((a, b) => compareBytes(a.metadata.name, b.metadata.name));
  /** By what they say. */
  const found = new Map<string, rbac.PolicyRule>();
  for (const selectorObject of role.aggregationRule.clusterRoleSelectors ?? []) {
    const selector = selectorFromObject(selectorObject);
    for (const { metadata, rules: more } of others) if (selector.matches(metadata.labels)) addNew(found, more ?? []);
  }
  const rules = [...found.values()];
  return deepEqual(rules as unknown as JsonValue, (role.rules ?? []) as unknown as JsonValue) ? undefined : rules;
}

function addNew(found: Map<string, rbac.PolicyRule>, more: readonly rbac.PolicyRule[]): void {
  for (const rule of more) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    const text = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
    if (!found.has(text)) found.set(text, rule);
  }
}
