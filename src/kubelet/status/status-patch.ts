import type { core } from '#api';
import { OWNED_CONDITIONS } from './pod-conditions.ts';

/** Status fields owned by the kubelet; all others are left unchanged. */
const OWNED = [
  'observedGeneration',
  'phase',
  'message',
  'reason',
  'hostIP',
  'podIP',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'resources',
  'allocatedResources',
] as const;

/** The strategic merge patch from one status to the other, without fields of others. Undefined when nothing differs. */
export function statusPatch(before: core.PodStatus, after: core.PodStatus): object | undefined {
  const patch: Record<string, unknown> = {};
  for (const field of OWNED) if (!sameValue(before[field], after[field])) patch[field] = after[field] ?? null;
  // Empty resources are written too.
  if (after.resources !== undefined && before.resources === undefined) patch.resources = after.resources;
  for (const field of ['hostIPs', 'podIPs'] as const) {
    if (!sameValue(before[field], after[field]))
      patch[field] = [...(after[field] ?? []), ...(before[field] ? [{ $patch: 'replace' }] : [])];
  }
  const conditions = changedConditions(before.conditions ?? [], after.conditions ?? []);
  if (conditions.length > 0) patch.conditions = conditions;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function changedConditions(before: readonly core.PodCondition[], after: readonly core.PodCondition[]): readonly object[] {
  const isRemoved = ({ type }: core.PodCondition) => OWNED_CONDITIONS.has(type) && !after.some((condition) => condition.type === type);
  const removed = before.filter(isRemoved).map(({ type }) => ({ $patch: 'delete', type }));
  const changed = after.flatMap((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    if (old === undefined) return [condition];
    const patch: Record<string, unknown> = {};
    for (const key of new Set([...Object.keys(old), ...Object.keys(condition)]) as Set<keyof core.PodCondition>) {
      if (!sameValue(old[key], condition[key])) patch[key] = condition[key] ?? null;
    }
    return Object.keys(patch).length === 0 ? [] : [{ ...patch, type: condition.type }];
  });
  return [...changed, ...removed];
}

/** Semantic equality: absent, null and empty members are the same to the API. */
function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isEmpty(a) && isEmpty(b);
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (!sameValue(left[key], right[key])) return false;
  for (const key in right) if (!(key in left) && !isEmpty(right[key])) return false;
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}
