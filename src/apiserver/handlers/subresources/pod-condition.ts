import type { core } from '#api';
import { formatTime } from '#machinery';

/** The status with a condition set; lastTransitionTime changes only with its status. */
export function withPodCondition(
  status: core.PodStatus,
  condition: { type: string; status: string; reason?: string; message?: string },
  now: number,
): core.PodStatus {
  const conditions = status.conditions ?? [];
  const before = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = before !== undefined && before.status === condition.status ? before.lastTransitionTime : formatTime(now);
  const next = { lastProbeTime: null, ...condition, lastTransitionTime } as unknown as core.PodCondition;
  return { ...status, conditions: before ? conditions.map((existing) => (existing === before ? next : existing)) : [...conditions, next] };
}
