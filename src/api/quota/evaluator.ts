import type { ScopedResourceSelectorRequirement } from '../core/v1/resource-quota/resource-quota.ts';
import type { Amounts } from './amounts.ts';

/** An object that may count towards a quota. */
export interface Countable {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly deletionTimestamp?: string };
}

/** Knows how objects of one resource count towards quotas. */
export interface QuotaEvaluator<T extends Countable = Countable> {
  readonly group: string;
  readonly resource: string;
  /** Those of the names that objects of this resource use up. */
  matching(names: readonly string[]): readonly string[];
  /** What one object uses up. */
  usage(object: T, now: number): Amounts;
  /** Whether an object is one of those that a scope is about. */
  matchesScope(requirement: ScopedResourceSelectorRequirement, object: T): boolean;
  /** Whether an update can change the usage. Creation and deletion always do. */
  changesUsage(before: T, after: T, now: number): boolean;
}

/** `count/deployments.apps`: how quotas name the number of objects of any resource. */
export function objectCountName({ group, resource }: { readonly group: string; readonly resource: string }): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}
