import type { core } from '#api';
import { findCondition, parseTime } from '#machinery';

/** A metric of one pod, in thousandths. */
export interface PodReading {
  readonly value: number;
  readonly timestamp: number;
  readonly windowMs: number;
}

export type PodReadings = ReadonlyMap<string, PodReading>;

export interface PodGroups {
  readonly readyCount: number;
  /** Pods that are not ready: their metrics are ignored. */
  readonly unready: ReadonlySet<string>;
  /** Pods without metrics. */
  readonly missing: ReadonlySet<string>;
  /** Deleted or failed pods. */
  readonly ignored: ReadonlySet<string>;
}

export interface ReadinessPeriods {
  readonly cpuInitializationMs: number;
  readonly initialReadinessDelayMs: number;
}

export interface GroupingOptions {
  /** The name of the resource; empty for other metrics. */
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
  // Startup distorts only the CPU usage.
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
