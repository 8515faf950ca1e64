import type { rbac } from '#api';
import { compareBytes, deepEqual, type JsonValue, selectorFromObject } from '#machinery';

type ClusterRole = rbac.ClusterRole;
type Rules = readonly rbac.PolicyRule[];

/** The rules that an aggregated role should have; undefined when it has them, or is not aggregated. */
export function aggregatedRules(role: ClusterRole, roles: readonly ClusterRole[]): Rules | undefined {
  if (role.aggregationRule === undefined) return undefined;
  const sorted = [...roles].sort((a, b) => compareBytes(a.metadata.name, b.metadata.name));
  const rules = collect(role, sorted, new Map());
  return deepEqual(rules as unknown as JsonValue, (role.rules ?? []) as unknown as JsonValue) ? undefined : rules;
}

/**
 * Of roles that are aggregated themselves this takes the rules that they should have, not those that they have by now: so a chain of them
 * (view, edit, admin) is written once each. In a circle, what a role has by now has to do. Each role is worked out once (`known`).
 */
function collect(role: ClusterRole, roles: readonly ClusterRole[], known: Map<string, Rules>): Rules {
  const { name } = role.metadata;
  const present = known.get(name) ?? role.rules ?? [];
  if (role.aggregationRule === undefined || known.has(name)) return present;
  known.set(name, present);
  /** By what they say. */
  const found = new Map<string, rbac.PolicyRule>();
  for (const selectorObject of role.aggregationRule.clusterRoleSelectors ?? []) {
    const selector = selectorFromObject(selectorObject);
    for (const other of roles) {
      if (other.metadata.name !== name && selector.matches(other.metadata.labels)) addNew(found, collect(other, roles, known));
    }
  }
  const rules = [...found.values()];
  known.set(name, rules);
  return rules;
}

function addNew(found: Map<string, rbac.PolicyRule>, more: Rules): void {
  for (const rule of more) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    const text = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
    if (!found.has(text)) found.set(text, rule);
  }
}
