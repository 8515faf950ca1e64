import { goQuote } from '#machinery';
import type { PolicyRule } from './policy-rule.ts';
import { RuleIndex } from './rule-index.ts';
import { uncoveredTuples } from './uncovered-tuples.ts';

/** A rule is the product of its lists: at most this many parts are listed. */
const MAX_PARTS = 2000;

/**
 * The permissions of `required` that `granted` lacks, as rules of one verb, group, resource and at most one name. Empty only if all are
 * covered; very long results are cut.
 */
export function uncoveredRules(granted: readonly PolicyRule[], required: readonly PolicyRule[]): readonly PolicyRule[] {
  const index = new RuleIndex(granted);
  const parts: PolicyRule[] = [];
  for (const rule of required) {
    for (const part of uncoveredParts(index, rule)) {
      parts.push(part);
      if (parts.length === MAX_PARTS) return parts;
    }
  }
  return parts;
}

function* uncoveredParts(index: RuleIndex, rule: PolicyRule): Generator<PolicyRule, undefined> {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  const lists = [
    apiGroups.map((value) => ({ value, rules: index.forGroup(value) })),
    resources.map((value) => ({ value, rules: index.forResource(value) })),
    verbs.map((value) => ({ value, rules: index.forVerb(value) })),
    names.map((value) => ({ value, rules: index.forName(value) })),
  ];
  for (const [group, resource, verb, name] of uncoveredTuples(lists)) {
    const resourceNames = name === undefined ? {} : { resourceNames: [name] };
    yield { apiGroups: [group!], resources: [resource!], ...resourceNames, verbs: [verb!] };
  }
  const urls = nonResourceURLs.map((value) => ({ value, rules: index.forUrl(value) }));
  for (const [url, verb] of uncoveredTuples([urls, lists[2]!])) yield { nonResourceURLs: [url!], verbs: [verb!] };
}
/** Joins the verbs of parts that are otherwise equal. */
export function compactRules(parts: readonly PolicyRule[]): readonly PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  for (const part of parts) {
    const { verbs, ...target } = part;
    // Non-resource rules are not joined, as upstream.
    const key = JSON.stringify(part.nonResourceURLs?.length ? part : target);
    const before = joined.get(key);
    joined.set(key, before ? { ...before, verbs: [...before.verbs, ...verbs] } : part);
  }
  return [...joined.values()];
}

const FIELDS = [
  ['APIGroups', 'apiGroups'],
  ['Resources', 'resources'],
  ['NonResourceURLs', 'nonResourceURLs'],
  ['ResourceNames', 'resourceNames'],
  ['Verbs', 'verbs'],
] as const;

export function ruleText(rule: PolicyRule): string {
  const parts = FIELDS.flatMap(([title, field]) => (rule[field]?.length ? [`${title}:${quotedList(rule[field])}`] : []));
  return `{${parts.join(', ')}}`;
}

/** As Go prints a list of quoted strings. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map(goQuote).join(' ')}]`;
}
