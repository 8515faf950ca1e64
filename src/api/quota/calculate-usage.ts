import { Quantity } from '#machinery';
import type { ResourceQuotaSpec } from '../core/v1/resource-quota/resource-quota.ts';
import { type Amounts, accumulate } from './amounts.ts';
import type { Countable, QuotaEvaluator } from './evaluator.ts';
import { scopeRequirements } from './scope-selector.ts';

export interface UsageInput {
  readonly spec: ResourceQuotaSpec;
  readonly evaluators: readonly QuotaEvaluator[];
  /** The objects of the quota's namespace. */
  objects(evaluator: QuotaEvaluator): readonly Countable[];
  readonly now: number;
}

/** A namespace's usage of all resources that a quota limits and that can be counted. */
export function calculateUsage({ spec, evaluators, objects, now }: UsageInput): Amounts {
  const hard = Object.keys(spec.hard ?? {});
  const requirements = scopeRequirements(spec);
  const total = new Map<string, Quantity>();
  const tracked = new Set<string>();
  for (const evaluator of evaluators) {
    const names = evaluator.matching(hard);
    if (names.length === 0) continue;
    for (const name of names) tracked.add(name);
    for (const object of objects(evaluator)) {
      const counts = requirements.every((requirement) => evaluator.matchesScope(requirement, object));
      if (counts) accumulate(total, evaluator.usage(object, now));
    }
  }
  return new Map([...tracked].map((name) => [name, total.get(name) ?? Quantity.zero]));
}
