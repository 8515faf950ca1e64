import { core } from '#api';
import { lookupTable, maxOf } from '#base';
import { compareBytes } from '#machinery';

/** What a pass over a namespace's content left behind, by resource. */
export interface RemainingContent {
  readonly group: string;
  readonly resource: string;
  readonly count: number;
  /** The number of objects per finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** The results of deleting the content. */
export interface DeletionResult {
  /** The discovery error; `groups` counts the failed groups when only some failed. */
  readonly discovery?: { readonly message: string; readonly groups: number };
  readonly failures: readonly string[];
  readonly remaining: readonly RemainingContent[];
}

interface ConditionText {
  readonly reason: string;
  readonly message: string;
}

const FINE = lookupTable<ConditionText>({
  NamespaceDeletionDiscoveryFailure: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
  NamespaceDeletionGroupVersionParsingFailure: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
  NamespaceDeletionContentFailure: {
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  NamespaceContentRemaining: { reason: 'ContentRemoved', message: 'All content successfully removed' },
  NamespaceFinalizersRemaining: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
});

/** The conditions of a terminating namespace after a pass; the same list if unchanged. */
export function terminationConditions(
  before: readonly core.NamespaceCondition[] = [],
  result: DeletionResult,
  now: string,
): readonly core.NamespaceCondition[] {
  const problems = problemsOf(result);
  const after = [...before];
  let hasChanged = false;
  for (const [type, fine] of Object.entries(FINE)) {
    const problem = problems.get(type);
    const next = { type, status: problem ? 'True' : 'False', ...(problem ?? fine) };
    const i = after.findIndex((condition) => condition.type === type);
    const old = after[i];
    if (old && old.status === next.status && old.reason === next.reason && old.message === next.message) continue;
    const lastTransitionTime = old && old.status === next.status ? (old.lastTransitionTime ?? now) : now;
    after[i < 0 ? after.length : i] = { ...old, ...next, lastTransitionTime };
    hasChanged = true;
  }
  return hasChanged ? after : before;
}

function problemsOf({ discovery, failures, remaining }: DeletionResult): ReadonlyMap<string, ConditionText> {
  const problems = new Map<string, ConditionText>();
  if (discovery) problems.set('NamespaceDeletionDiscoveryFailure', { reason: 'DiscoveryFailed', message: discoveryMessage(discovery) });
  if (failures.length > 0) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted(compareBytes).join(', ')}`;
    problems.set('NamespaceDeletionContentFailure', { reason: 'ContentDeletionFailed', message });
  }
  if (remaining.length > 0) {
    const counts = remaining.map(({ resource, group, count }) => `${resource}.${group} has ${count} resource instances`);
    const message = `Some resources are remaining: ${counts.sort(compareBytes).join(', ')}`;
    problems.set('NamespaceContentRemaining', { reason: 'SomeResourcesRemain', message });
  }
  const totals = finalizerTotals(remaining);
  if (totals.size > 0) {
    const counts = [...totals].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${counts.sort(compareBytes).join(', ')}`;
    problems.set('NamespaceFinalizersRemaining', { reason: 'SomeFinalizersRemain', message });
  }
  return problems;
}

function discoveryMessage({ message, groups }: NonNullable<DeletionResult['discovery']>): string {
  return groups > 0 ? `Discovery failed for some groups, ${groups} failing: ${message}` : message;
}

function finalizerTotals(remaining: readonly RemainingContent[]): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const { finalizers } of remaining) {
    for (const [finalizer, count] of finalizers) totals.set(finalizer, (totals.get(finalizer) ?? 0) + count);
  }
  return totals;
}

/** The longest remaining grace period of the pods, in seconds; 0 when the namespace has been deleted for longer. */
export function terminationEstimate(pods: readonly core.Pod[], deletedForMs: number): number {
  const living = pods.filter((pod) => !core.isPodTerminal(pod));
  const longest = maxOf(
    living.map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0),
    0,
  );
  return deletedForMs >= longest * 1000 ? 0 : longest;
}

/** Counts the remaining objects of a resource and their finalizers. */
export function countRemaining(
  { group, resource }: { readonly group: string; readonly resource: string },
  items: readonly { readonly metadata: { readonly finalizers?: readonly string[] } }[],
): RemainingContent {
  const finalizers = new Map<string, number>();
  for (const { metadata } of items) {
    for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  return { group, resource, count: items.length, finalizers };
}
