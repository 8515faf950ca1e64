import type { core } from '#api';
import { formatTime } from '#machinery';

type Condition = core.PersistentVolumeClaimCondition;

export interface NewCondition {
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface ConditionChange {
  readonly nowMs: number;
  /** Replaces conditions of the same types; others stay. */
  readonly conditions: readonly NewCondition[];
  readonly removed?: readonly string[];
}

/** The claim's conditions after the change. One whose reason stays keeps the time of its transition. */
export function mergeConditions(
  { status }: core.PersistentVolumeClaim,
  { nowMs, conditions, removed = [] }: ConditionChange,
): readonly Condition[] {
  const before = status?.conditions ?? [];
  const now = formatTime(nowMs);
  const changed = new Map(
    conditions.map((condition) => {
      const old = before.find(({ type }) => type === condition.type);
      const isSame = old?.status === 'True' && (old.reason ?? '') === (condition.reason ?? '');
      return [condition.type, { ...condition, status: 'True', lastTransitionTime: isSame ? old.lastTransitionTime : now } as Condition];
    }),
  );
  const remaining = before.filter(({ type }) => !removed.includes(type) || changed.has(type)).map((old) => changed.get(old.type) ?? old);
  return [...remaining, ...Array.from(changed.values()).filter(({ type }) => !before.some((old) => old.type === type))];
}
