import type { core } from '#api';
import { findCondition, parseTime } from '#machinery';

/** What was measured of one pod, in thousandths. */
export interface PodReading {
  readonly value: number;
  readonly timestamp: number;
  readonly windowMs: number;
}

export type PodReadings = ReadonlyMap<string, PodReading>;

export interface PodGroups {
  readonly readyCount: number;
  /** Pods that do not work yet: what they use says nothing. */
  readonly unready: ReadonlySet<string>;
  /** Pods that should have been measured, and were not. */
  readonly missing: ReadonlySet<string>;
  /** Pods that go, or have failed. */
  readonly ignored: ReadonlySet<string>;
}

export interface ReadinessPeriods {
  readonly cpuInitializationMs: number;
  readonly initialReadinessDelayMs: number;
}

export interface GroupingOptions {
  /** What was measured; empty when it is no resource. */
  readonly resource: string;
  readonly now: number;
  readonly periods: ReadinessPeriods;
}

type Group = 'ready' | 'unready' | 'missing' | 'ignored';

export function groupPods(pods: readonly core.Pod[], readings: PodReadings, options: GroupingOptions): PodGroups {
  const names: Record<Group, string[]> = { ready: [], unready: [], missing: [], ignored: [] };
  for (const pod of pods) names[groupOf(pod, readings.get(pod.metadata.name), options)].push(pod.metadata.name);
  return {
    readyCount: names.ready.length,
    unready: new Set(names.unready),
    missing: new Set(names.missing),
    ignored: new Set(names.ignored),
  };
}

function groupOf(pod: core.Pod, reading: PodReading | undefined, options: GroupingOptions): Group {
  if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Failed') return 'ignored';
  if (pod.status?.phase === 'Pending') return 'unready';
  if (reading === undefined) return 'missing';
  // Only CPU is used more while starting than later.
  return options.resource === 'cpu' && isStarting(pod, reading, options) ? 'unready' : 'ready';
}

function isStarting({ status }: core.Pod, reading: PodReading, { now, periods }: GroupingOptions): boolean {
  const condition = findCondition(status?.conditions, 'Ready');
  if (condition === undefined || !status?.startTime) return true;
  const started = parseTime(status.startTime);
  const changed = condition.lastTransitionTime ? parseTime(condition.lastTransitionTime) : -Infinity;
  const isUnready = condition.status === 'False';
  if (started + periods.cpuInitializationMs > now) return isUnready || reading.timestamp < changed + reading.windowMs;
  return isUnready && started + periods.initialReadinessDelayMs > changed;
}
