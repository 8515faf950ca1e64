import type { core } from '#api';

/** As `shutdownGracePeriodByPodPriority`. */
export interface PriorityPeriod {
  readonly priority: number;
  readonly shutdownGracePeriodSeconds: number;
}

/** As in KubeletConfiguration. */
export interface ShutdownConfig {
  /** Default 0: no graceful shutdown. */
  readonly shutdownGracePeriodMs?: number;
  /** The last part of it, for critical pods. Default 0. */
  readonly shutdownGracePeriodCriticalPodsMs?: number;
  /** Instead of the two above. */
  readonly shutdownGracePeriodByPodPriority?: readonly PriorityPeriod[];
}

const SYSTEM_CRITICAL = 2_000_000_000;

/** From the lowest priority to the highest; empty: no graceful shutdown. Pure. */
export function shutdownPeriods(config: ShutdownConfig): readonly PriorityPeriod[] {
  const { shutdownGracePeriodMs = 0, shutdownGracePeriodCriticalPodsMs = 0, shutdownGracePeriodByPodPriority = [] } = config;
  if (shutdownGracePeriodByPodPriority.length > 0) return shutdownGracePeriodByPodPriority.toSorted((a, b) => a.priority - b.priority);
  const regularMs = shutdownGracePeriodMs - shutdownGracePeriodCriticalPodsMs;
  if (shutdownGracePeriodMs === 0 || regularMs < 0) return [];
  return [
    { priority: 0, shutdownGracePeriodSeconds: Math.floor(regularMs / 1000) },
    { priority: SYSTEM_CRITICAL, shutdownGracePeriodSeconds: Math.floor(shutdownGracePeriodCriticalPodsMs / 1000) },
  ];
}

export interface ShutdownGroup<Pod> {
  readonly graceSeconds: number;
  readonly pods: readonly Pod[];
}

/** Groups of pods that are stopped together, in order: by the highest period whose priority they reach; lower ones join the first group. Pure. */
export function shutdownGroups<Pod extends { readonly pod: core.Pod }>(
  periods: readonly PriorityPeriod[],
  pods: readonly Pod[],
): readonly ShutdownGroup<Pod>[] {
  const indexOf = ({ pod }: Pod) =>
    Math.max(
      0,
      periods.findLastIndex(({ priority }) => (pod.spec?.priority ?? 0) >= priority),
    );
  return periods
    .map(({ shutdownGracePeriodSeconds }, index) => ({
      graceSeconds: shutdownGracePeriodSeconds,
      pods: pods.filter((pod) => indexOf(pod) === index),
    }))
    .filter((group) => group.pods.length > 0);
}
