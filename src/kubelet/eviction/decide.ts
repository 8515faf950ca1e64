import type { Observations } from './measurements.ts';
import { conditionOf, type PressureCondition, type Threshold, thresholdAmount } from './thresholds.ts';

/** State kept between synchronizations. */
export interface EvictionState {
  /** Since when each threshold is crossed. */
  readonly firstObservedAtMs: ReadonlyMap<Threshold, number>;
  readonly conditionObservedAtMs: ReadonlyMap<PressureCondition, number>;
  /** Thresholds crossed for their grace period. */
  readonly met: readonly Threshold[];
}

export const NO_PRESSURE: EvictionState = { firstObservedAtMs: new Map(), conditionObservedAtMs: new Map(), met: [] };

export interface EvictionFacts {
  readonly thresholds: readonly Threshold[];
  readonly transitionPeriodMs: number;
  readonly observations: Observations;
  readonly nowMs: number;
}

export interface EvictionDecision {
  readonly state: EvictionState;
  readonly conditions: readonly PressureCondition[];
  /** Thresholds to act on, most urgent first. */
  readonly reclaim: readonly Threshold[];
}

/** The node conditions and the thresholds to act on. Pure. */
export function decide(state: EvictionState, facts: EvictionFacts): EvictionDecision {
  const { thresholds, observations, transitionPeriodMs, nowMs } = facts;
  const crossed = new Set(thresholds.filter((threshold) => isCrossed(threshold, observations)));
  // A met threshold stays met until its minimum reclaim is reached.
  for (const threshold of state.met) if (isCrossed(threshold, observations, true)) crossed.add(threshold);
  const firstObservedAtMs = new Map(Array.from(crossed, (threshold) => [threshold, state.firstObservedAtMs.get(threshold) ?? nowMs]));
  const conditionObservedAtMs = new Map(state.conditionObservedAtMs);
  for (const { signal } of crossed) conditionObservedAtMs.set(conditionOf(signal), nowMs);
  for (const [condition, atMs] of conditionObservedAtMs) {
    if (atMs !== nowMs && nowMs - atMs >= transitionPeriodMs) conditionObservedAtMs.delete(condition);
  }
  const met = [...crossed].filter((threshold) => nowMs - (firstObservedAtMs.get(threshold) ?? nowMs) >= threshold.graceMs);
  return {
    state: { firstObservedAtMs, conditionObservedAtMs, met },
    conditions: [...conditionObservedAtMs.keys()],
    reclaim: met.toSorted((a, b) => urgency(a) - urgency(b)),
  };
}

/** Thresholds without an observation are not crossed. */
export function isCrossed({ signal, value, minReclaim }: Threshold, observations: Observations, withReclaim = false): boolean {
  const observed = observations.get(signal);
  if (observed === undefined) return false;
  const extra = withReclaim && minReclaim !== undefined ? thresholdAmount(minReclaim, observed.capacity) : 0;
  return thresholdAmount(value, observed.capacity) + extra > observed.available;
}

/** Memory first; hard before soft thresholds. */
function urgency({ signal, graceMs }: Threshold): number {
  return (conditionOf(signal) === 'MemoryPressure' ? 0 : 2) + (graceMs === 0 ? 0 : 1);
}
