import type { RuleSet } from './rule-index.ts';

export interface Choice<T> {
  readonly value: T;
  /** The rules that cover it. */
  readonly rules: RuleSet;
}

/** The search stops after this many steps. */
const MAX_STEPS = 200_000;

/**
 * The tuples, one value of each list, that no single rule covers, in list order. Values that the same rules cover are equivalent, so the
 * cost depends on the number of distinct rule sets, not of tuples. If any tuple is uncovered, at least one is listed.
 */
export function* uncoveredTuples<T>(lists: readonly (readonly Choice<T>[])[]): Generator<readonly T[], undefined> {
  if (lists.some((list) => list.length === 0)) return;
  const search = new Search(lists);
  yield* search.tuples();
}

class Search<T> {
  readonly #lists: readonly (readonly Choice<T>[])[];
  /** The distinct rule sets of each list. */
  readonly #kinds: readonly (readonly RuleSet[])[];
  /** The rules that cover each list and all lists after it. */
  readonly #common: readonly RuleSet[];
  readonly #coverageCaches: readonly Map<RuleSet, boolean>[];
  #steps = 0;

  constructor(lists: readonly (readonly Choice<T>[])[]) {
    this.#lists = lists;
    this.#kinds = lists.map((list) => [...new Set(list.map(({ rules }) => rules))]);
    const common: RuleSet[] = [-1n];
    for (const kinds of [...this.#kinds].reverse()) common.unshift(kinds.reduce((all, rules) => all & rules, common[0]!));
    this.#common = common;
    this.#coverageCaches = lists.map(() => new Map());
  }

  *tuples(depth = 0, rules: RuleSet = -1n, prefix: readonly T[] = []): Generator<readonly T[], undefined> {
    if (depth === this.#lists.length) return yield prefix;
    for (const choice of this.#lists[depth]!) {
      if (this.#steps++ > MAX_STEPS) return;
      if (!this.#isCovered(depth + 1, rules & choice.rules)) yield* this.tuples(depth + 1, rules & choice.rules, [...prefix, choice.value]);
    }
  }

  /** Whether each tuple of the lists from `depth` on is covered by one of the rules. */
  #isCovered(depth: number, rules: RuleSet): boolean {
    if (rules === 0n) return false;
    if ((rules & this.#common[depth]!) !== 0n) return true;
    // With candidate rules left after the last list, the tuple is covered.
    const cache = this.#coverageCaches[depth]!;
    let isCovered = cache.get(rules);
    if (isCovered === undefined) {
      isCovered = this.#kinds[depth]!.every((kind) => this.#isCovered(depth + 1, rules & kind));
      cache.set(rules, isCovered);
    }
    return isCovered;
  }
}
