/** metav1.Condition, and the older forms that have most of it. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition?.type === type);
}

export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

export function isConditionFalse(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'False';
}

/**
 * Sets a condition, replacing the one of its type or appending it. The transition time changes only with the status: to the given one, else to `now`.
 * Unchanged conditions are returned as they are.
 */
export function withCondition<C extends Condition>(conditions: readonly C[] | undefined, next: C, now: string): readonly C[] {
  const existing = findCondition(conditions, next.type);
  if (existing === undefined) return [...(conditions ?? []), { ...next, lastTransitionTime: next.lastTransitionTime ?? now }];
  const lastTransitionTime = existing.status === next.status ? existing.lastTransitionTime : (next.lastTransitionTime ?? now);
  const merged = { ...existing, ...next, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
  if (sameCondition(existing, merged)) return conditions ?? [];
  return (conditions ?? []).map((condition) => (condition === existing ? merged : condition));
}

export function withoutCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): readonly C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}

function sameCondition(a: Condition, b: Condition): boolean {
  const left = a as unknown as Record<string, unknown>;
  const right = b as unknown as Record<string, unknown>;
  return Object.keys(right).every((key) => left[key] === right[key]);
}
