import { type PolicyRule, urlCovers } from './policy-rule.ts';

const ALL = '*';

/** A set of rules as a bit mask. */
export type RuleSet = bigint;

/** Finds the rules of a list that cover a verb, group, resource, name or path, without iterating. */
export class RuleIndex {
  readonly #verbs: ValueIndex;
  readonly #groups: ValueIndex;
  readonly #resources: ValueIndex;
  readonly #names: ValueIndex;
  readonly #urls: ValueIndex;
  readonly #unnamed: RuleSet;

  constructor(rules: readonly PolicyRule[]) {
    this.#verbs = new ValueIndex(rules.map(({ verbs }) => verbs));
    this.#groups = new ValueIndex(rules.map(({ apiGroups }) => apiGroups));
    this.#resources = new ValueIndex(rules.map(({ resources }) => resources));
    this.#names = new ValueIndex(rules.map(({ resourceNames }) => resourceNames));
    this.#urls = new ValueIndex(rules.map(({ nonResourceURLs }) => nonResourceURLs));
    this.#unnamed = setOf(rules.map(({ resourceNames = [] }) => resourceNames.length === 0));
  }

  forVerb(verb: string): RuleSet {
    return this.#verbs.with(verb) | this.#verbs.with(ALL);
  }

  forGroup(group: string): RuleSet {
    return this.#groups.with(group) | this.#groups.with(ALL);
  }

  forResource(resource: string): RuleSet {
    const slash = resource.indexOf('/');
    const subresource = slash < 0 ? 0n : this.#resources.with(`*${resource.slice(slash)}`);
    return this.#resources.with(resource) | this.#resources.with(ALL) | subresource;
  }

  /** Rules without names cover all names. */
  forName(name: string | undefined): RuleSet {
    return name === undefined ? this.#unnamed : this.#unnamed | this.#names.with(name);
  }

  forUrl(url: string): RuleSet {
    let rules = this.#urls.with(url);
    for (const pattern of this.#urls.patterns) if (urlCovers(pattern, url)) rules |= this.#urls.with(pattern);
    return rules & this.#unnamed;
  }
}

class ValueIndex {
  readonly patterns: readonly string[];
  readonly #rules = new Map<string, RuleSet>();

  constructor(lists: readonly (readonly string[] | undefined)[]) {
    for (const [i, values] of lists.entries()) {
      for (const value of new Set(values)) this.#rules.set(value, this.with(value) | (1n << BigInt(i)));
    }
    this.patterns = [...this.#rules.keys()].filter((value) => value.endsWith(ALL));
  }

  with(value: string): RuleSet {
    return this.#rules.get(value) ?? 0n;
  }
}

function setOf(flags: readonly boolean[]): RuleSet {
  return flags.length === 0 ? 0n : BigInt(`0b${flags.map(Number).reverse().join('')}`);
}
