import { describe, expect, it } from 'vitest';
import type { autoscalingV2 } from '#api';
import { behaviourOf, limitByBehaviour, limitByDefault, type ReplicaBounds, withChange } from './limit-replicas.ts';
import { newHistory, type ScalingHistory } from './scaling-history.ts';

const NOW = Date.UTC(2026, 0, 1);
const WINDOW_MS = 300_000;
const EMPTY: ScalingHistory = { recommendations: [], scaleUps: [], scaleDowns: [] };

const bounds = (current: number, desired: number, changes: Partial<ReplicaBounds> = {}): ReplicaBounds => ({
  current,
  desired,
  min: 1,
  max: 100,
  now: NOW,
  ...changes,
});
const recommended = (replicas: number, secondsAgo: number): ScalingHistory => ({
  ...EMPTY,
  recommendations: [{ replicas, at: NOW - secondsAgo * 1000 }],
});

describe('an autoscaler without a behaviour of its own', () => {
  it.each<[string, ReplicaBounds, ScalingHistory, number, string, string, boolean]>([
    ['does as it wishes', bounds(3, 5), EMPTY, 5, 'ReadyForNewScale', 'DesiredWithinRange', false],
    ['at most doubles', bounds(5, 30), EMPTY, 10, 'ReadyForNewScale', 'ScaleUpLimit', true],
    ['may always grow to four', bounds(1, 30), EMPTY, 4, 'ReadyForNewScale', 'ScaleUpLimit', true],
    ['stays below its maximum', bounds(5, 30, { max: 7 }), EMPTY, 7, 'ReadyForNewScale', 'TooManyReplicas', true],
    ['stays above its minimum', bounds(5, 1, { min: 2 }), EMPTY, 2, 'ReadyForNewScale', 'TooFewReplicas', true],
    ['shrinks no further than it lately wished', bounds(5, 1), recommended(4, 60), 4, 'ScaleDownStabilized', 'DesiredWithinRange', false],
    ['forgets what it wished long ago', bounds(5, 1), recommended(4, 301), 1, 'ReadyForNewScale', 'DesiredWithinRange', false],
  ])('%s', (_name, proposed, history, replicas, able, reason, isLimited) => {
    const limited = limitByDefault(proposed, history, WINDOW_MS);
    expect(limited).toMatchObject({ replicas, ableToScale: { reason: able }, limit: { reason }, isLimited });
  });

  it('records its recommendations', () => {
    const first = limitByDefault(bounds(5, 5), newHistory(5, NOW), WINDOW_MS);
    const later = limitByDefault(bounds(5, 2, { now: NOW + 60_000 }), first.history, WINDOW_MS);
    expect(later).toMatchObject({ replicas: 5, ableToScale: { reason: 'ScaleDownStabilized' } });
    expect(limitByDefault(bounds(5, 2, { now: NOW + 400_000 }), later.history, WINDOW_MS).replicas).toBe(2);
  });
});

describe('an autoscaler with a behaviour of its own', () => {
  const policies = (...list: readonly [type: string, value: number, periodSeconds: number][]) =>
    list.map(([type, value, periodSeconds]) => ({ type, value, periodSeconds }));
  const rules = (change: autoscalingV2.HorizontalPodAutoscalerBehavior) =>
    behaviourOf(
      {
        scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: policies(['Pods', 4, 60]), ...change.scaleUp },
        scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: policies(['Percent', 100, 15]), ...change.scaleDown },
      },
      WINDOW_MS,
    );

  it.each<[string, ReplicaBounds, autoscalingV2.HorizontalPodAutoscalerBehavior, number, string, boolean]>([
    ['grows by pods', bounds(10, 30), {}, 14, 'ScaleUpLimit', true],
    [
      'grows by the larger policy',
      bounds(10, 30),
      { scaleUp: { policies: policies(['Pods', 4, 60], ['Percent', 100, 60]) } },
      20,
      'ScaleUpLimit',
      true,
    ],
    [
      'grows by the smaller policy when told so',
      bounds(10, 30),
      { scaleUp: { selectPolicy: 'Min', policies: policies(['Pods', 4, 60], ['Percent', 100, 60]) } },
      14,
      'ScaleUpLimit',
      true,
    ],
    ['grows by at least one', bounds(3, 30), { scaleUp: { policies: policies(['Percent', 1, 60]) } }, 4, 'ScaleUpLimit', true],
    ['does not grow when switched off', bounds(3, 30), { scaleUp: { selectPolicy: 'Disabled' } }, 3, 'ScaleUpLimit', true],
    ['stays below its maximum', bounds(10, 30, { max: 12 }), {}, 12, 'TooManyReplicas', true],
    ['shrinks by percent', bounds(10, 1), { scaleDown: { policies: policies(['Percent', 25, 60]) } }, 7, 'ScaleDownLimit', true],
    ['shrinks by pods', bounds(10, 1), { scaleDown: { policies: policies(['Pods', 2, 60]) } }, 8, 'ScaleDownLimit', true],
    ['does not shrink when switched off', bounds(10, 1), { scaleDown: { selectPolicy: 'Disabled' } }, 10, 'ScaleDownLimit', true],
    ['stays above its minimum', bounds(10, 1, { min: 3 }), {}, 3, 'TooFewReplicas', true],
    ['does as it wishes where nothing is in the way', bounds(10, 12), {}, 12, 'DesiredWithinRange', false],
  ])('%s', (_name, proposed, behaviour, replicas, reason, isLimited) => {
    expect(limitByBehaviour(proposed, EMPTY, rules(behaviour))).toMatchObject({ replicas, limit: { reason }, isLimited });
  });

  it('counts its scaling within the period of a policy', () => {
    const behaviour = rules({});
    const history = withChange(EMPTY, behaviour, { from: 7, to: 10, now: NOW - 30_000 });
    expect(limitByBehaviour(bounds(10, 30), history, behaviour).replicas).toBe(11);
    const older = withChange(EMPTY, behaviour, { from: 7, to: 10, now: NOW - 61_000 });
    expect(limitByBehaviour(bounds(10, 30), older, behaviour).replicas).toBe(14);
  });

  it('waits before it grows and before it shrinks, as long as it is told', () => {
    const up = limitByBehaviour(bounds(3, 5), recommended(4, 60), rules({ scaleUp: { stabilizationWindowSeconds: 100 } }));
    expect(up).toMatchObject({ replicas: 4, ableToScale: { reason: 'ScaleUpStabilized' } });
    const down = limitByBehaviour(bounds(6, 2), recommended(5, 60), rules({ scaleDown: { stabilizationWindowSeconds: 100 } }));
    expect(down).toMatchObject({ replicas: 5, ableToScale: { reason: 'ScaleDownStabilized' } });
  });

  it('waits before it shrinks as long as any, when it does not say', () => {
    const behaviour = behaviourOf({ scaleUp: {}, scaleDown: { policies: policies(['Percent', 100, 15]) } }, WINDOW_MS);
    expect(limitByBehaviour(bounds(6, 2), recommended(5, 299), behaviour).replicas).toBe(5);
  });
});
