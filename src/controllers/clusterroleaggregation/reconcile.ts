import type { rbac } from '#api';
import { compareBytes, deepEqual, isJsonObject, type JsonValue, SelectorError, selectorFromObject } from '#machinery';

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
 * For aggregated roles this uses the rules that they should have, not their current ones, so that a chain (view, edit, admin) is written
 * once. In a cycle the current rules are used. Each role is computed once (`collected`).
 */
function collect(role: ClusterRole, roles: readonly ClusterRole[], collected: Map<string, Rules>): Rules {
  const { name } = role.metadata;
  const present = collected.get(name) ?? rulesOf(role);
  if (role.aggregationRule === undefined || collected.has(name)) return present;
  collected.set(name, present);
  /** Keyed by content. */
  const ruleSet = new Map<string, rbac.PolicyRule>();
  for (const selectorObject of role.aggregationRule.clusterRoleSelectors ?? []) {
    const selector = selectorFromObject(selectorObject);
    for (const other of roles) {
      if (other.metadata.name !== name && selector.matches(other.metadata.labels)) addNew(ruleSet, collectOther(other, roles, collected));
    }
  }
  const rules = [...ruleSet.values()];
  collected.set(name, rules);
  return rules;
}

/** A role whose own selectors cannot be compiled keeps the rules that it has. */
function collectOther(other: ClusterRole, roles: readonly ClusterRole[], collected: Map<string, Rules>): Rules {
  try {
    return collect(other, roles, collected);
  } catch (error) {
    if (error instanceof SelectorError) return rulesOf(other);
    throw error;
  }
}

/** Malformed rules count as none, so that one bad role does not block the others. */
function rulesOf({ rules }: ClusterRole): Rules {
  return Array.isArray(rules) && (rules as unknown as JsonValue[]).every(isJsonObject) ? (rules as Rules) : [];
}

function addNew(rules: Map<string, rbac.PolicyRule>, added: Rules): void {
  for (const rule of added) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    const text = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
    if (!rules.has(text)) rules.set(text, rule);
  }
}
