import { goQuote } from '#machinery';
import { type PolicyRule, urlCovers } from './policy-rule.ts';

const ALL = '*';

/** What `wanted` allows beyond `held`, taken apart into rules of one verb, one group, one resource and at most one name each. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !held.some((rule) => ruleCovers(rule, part)));
}

function breakDown(rule: PolicyRule): readonly PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }));
  const forResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => names.map((named) => ({ apiGroups: [group], resources: [resource], ...named, verbs: [verb] }))),
    ),
  );
  const forUrls = nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })));
  return [...forResources, ...forUrls];
}

function ruleCovers(held: PolicyRule, part: PolicyRule): boolean {
  return (
    hasAll(held.verbs, part.verbs) &&
    hasAll(held.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => resourceCovers(held.resources ?? [], resource)) &&
    (part.nonResourceURLs ?? []).every((url) => (held.nonResourceURLs ?? []).some((own) => urlCovers(own, url))) &&
    namesCover(held.resourceNames ?? [], part.resourceNames ?? [])
  );
}

function hasAll(held: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return held.includes(ALL) || wanted.every((value) => held.includes(value));
}

function resourceCovers(held: readonly string[], resource: string): boolean {
  if (held.includes(ALL) || held.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

/** Rules without names are for all names: only such a rule covers another. */
function namesCover(held: readonly string[], wanted: readonly string[]): boolean {
  return held.length === 0 || (wanted.length > 0 && wanted.every((name) => held.includes(name)));
}

/** Joins the verbs of parts that are alike otherwise. */
export function compactRules(parts: readonly PolicyRule[]): readonly PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  for (const part of parts) {
    const { verbs, ...target } = part;
    // Parts about paths stay as they are, as upstream leaves them.
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
