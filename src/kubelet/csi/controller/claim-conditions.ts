import type { core } from '#api';
import { formatTime } from '#machinery';

type Condition = core.PersistentVolumeClaimCondition;

export interface NewCondition {
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The claim's conditions with the given types replaced. An unchanged condition keeps its time. */
export function replaceConditions(
  { status }: core.PersistentVolumeClaim,
  replaced: readonly string[],
  { conditions, nowMs }: { readonly conditions: readonly NewCondition[]; readonly nowMs: number },
): readonly Condition[] {
  const before = status?.conditions ?? [];
  const replacements = conditions.map((condition): Condition => {
    const same = before.find(({ type, message }) => type === condition.type && (message ?? '') === (condition.message ?? ''));
    return same ?? { ...condition, status: 'True', lastTransitionTime: formatTime(nowMs) };
  });
  return [...before.filter(({ type }) => !replaced.includes(type)), ...replacements];
}
