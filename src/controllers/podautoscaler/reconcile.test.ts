import { describe, expect, it } from 'vitest';
import { formatTime } from '#machinery';
import { MetricFailure, type Proposal } from './propose-replicas.ts';
import {
  type Autoscaler,
  decide,
  evaluateMetrics,
  lookFirst,
  tolerancesOf,
  withConditions,
  withScalingCondition,
  withStatus,
} from './reconcile.ts';
import { newHistory } from './scaling-history.ts';

const NOW = Date.UTC(2026, 0, 1);

function autoscaler(spec: object = {}): Autoscaler {
  return {
    metadata: { name: 'h', namespace: 'ns' },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, minReplicas: 2, maxReplicas: 4, ...spec },
  } as Autoscaler;
}

const proposal = (replicas: number, metric = 'cpu'): Proposal => ({ replicas, metric, status: { type: 'Resource' } });
const failure = new MetricFailure('FailedGetResourceMetric', 'no metrics', 'failed to get it: no metrics');

describe('before metrics are looked at', () => {
  it.each([
    [0, { type: 'disabled' }],
    [1, { type: 'bounded', replicas: 2, reason: 'Current number of replicas below Spec.MinReplicas' }],
    [3, { type: 'measure' }],
    [5, { type: 'bounded', replicas: 4, reason: 'Current number of replicas above Spec.MaxReplicas' }],
  ])('%i replicas of two to four', (current, expected) => {
    expect(lookFirst(autoscaler(), current)).toEqual(expected);
  });
});

describe('several metrics', () => {
  it('call for as many replicas as the one that calls for the most', () => {
    const { desired, condition } = evaluateMetrics([proposal(3, 'a'), proposal(5, 'b'), proposal(4, 'c')], 3);
    expect(desired).toEqual({ replicas: 5, metric: 'b' });
    expect(condition).toMatchObject({ status: 'True', reason: 'ValidMetricFound', message: expect.stringContaining('from b') });
  });

  it('still call for more while one cannot be had', () => {
    const result = evaluateMetrics([failure, proposal(5)], 3);
    expect(result.desired?.replicas).toBe(5);
    expect(result.problem).toBe('invalid metrics (1 invalid out of 2), first error is: failed to get it: no metrics');
    expect(result.statuses).toEqual([{ type: '' }, { type: 'Resource' }]);
  });

  it.each([
    ['one cannot be had and the others call for fewer', [failure, proposal(2)]],
    ['none can be had', [failure, failure]],
  ])('call for nothing when %s', (_name, results) => {
    expect(evaluateMetrics(results, 3)).toMatchObject({
      desired: undefined,
      condition: {
        status: 'False',
        reason: 'FailedGetResourceMetric',
        message: 'the HPA was unable to compute the replica count: no metrics',
      },
    });
  });
});

describe('a decision', () => {
  const input = { current: 2, conditions: [], history: newHistory(2, NOW), downWindowMs: 0, now: NOW + 1 };

  it('has reasons for AbleToScale and ScalingLimited', () => {
    const decision = decide(autoscaler(), { ...input, desired: { replicas: 9, metric: 'cpu' } });
    expect(decision).toMatchObject({ replicas: 4, reason: 'cpu above target' });
    expect(decision.conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      'AbleToScale True ReadyForNewScale',
      'ScalingLimited True TooManyReplicas',
    ]);
    expect(decide(autoscaler(), { ...input, current: 3, desired: { replicas: 2, metric: 'cpu' } }).reason).toBe('All metrics below target');
  });
});

describe('tolerances', () => {
  it('are those of the autoscaler, or else of all', () => {
    expect(tolerancesOf(autoscaler(), 0.1)).toEqual({ scaleUp: 0.1, scaleDown: 0.1 });
    expect(tolerancesOf(autoscaler({ behavior: { scaleUp: { tolerance: '5m' } } }), 0.1)).toEqual({ scaleUp: 0.005, scaleDown: 0.1 });
  });
});

describe('the status', () => {
  const condition = { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale', message: '' } as const;

  it('is not written again when it is as it should be', () => {
    const status = { current: 3, desired: 3, metrics: undefined, conditions: withScalingCondition(undefined, condition, NOW) };
    const written = withStatus(autoscaler(), status);
    expect(written.status).toMatchObject({ currentReplicas: 3, desiredReplicas: 3 });
    expect(withStatus(written, { ...status, conditions: withScalingCondition(written.status?.conditions, condition, NOW + 5000) })).toBe(
      written,
    );
  });

  it('keeps lastScaleTime', () => {
    const first = withStatus(autoscaler(), { current: 3, desired: 4, metrics: [], conditions: [], scaledAt: NOW });
    expect(first.status?.lastScaleTime).toBe(formatTime(NOW));
    expect(withStatus(first, { current: 4, desired: 4, metrics: [], conditions: [] }).status?.lastScaleTime).toBe(formatTime(NOW));
  });

  it('keeps its numbers where only a condition changes', () => {
    const first = withStatus(autoscaler(), { current: 3, desired: 4, metrics: [], conditions: [] });
    expect(withConditions(first, withScalingCondition([], condition, NOW)).status).toMatchObject({
      currentReplicas: 3,
      desiredReplicas: 4,
    });
  });
});
