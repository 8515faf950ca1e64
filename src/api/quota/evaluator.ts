import type { ScopedResourceSelectorRequirement } from '../core/v1/resource-quota/resource-quota.ts';
import type { Amounts } from './amounts.ts';

/** An object that is subject to quotas. */
export interface Countable {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly deletionTimestamp?: string };
}

/** Computes the quota usage of objects of one resource. */
export interface QuotaEvaluator<T extends Countable = Countable> {
  readonly group: string;
  readonly resource: string;
  /** The resource names that objects of this resource use. */
  matching(names: readonly string[]): readonly string[];
  /** The usage of one object. */
  usage(object: T, now: number): Amounts;
  /** Whether a scope matches an object. */
  matchesScope(requirement: ScopedResourceSelectorRequirement, object: T): boolean;
  /** Whether an update can change the usage. Creation and deletion always do. */
  changesUsage(before: T, after: T, now: number): boolean;
}

/** `count/deployments.apps`: the quota name for the number of objects of any resource. */
export function objectCountName({ group, resource }: { readonly group: string; readonly resource: string }): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}
