import { describe, expect, it } from 'vitest';
import type { core, policy } from '#api';
import { formatTime } from '#machinery';
import { evaluateBudget, failedBudget, needsScale, staleTargetMs } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1, 1);
const ago = (seconds: number) => formatTime(NOW - seconds * 1000);

function budget(spec: policy.PodDisruptionBudgetSpec, status?: Partial<policy.PodDisruptionBudgetStatus>): policy.PodDisruptionBudget {
  const current = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0, ...status };
  return { metadata: { name: 'b', namespace: 'default', generation: 2 }, spec, ...(status && { status: current }) };
}

function pods(ready: number, unready = 0): core.Pod[] {
  return Array.from({ length: ready + unready }, (_, i) => ({
    metadata: { name: `p${i}`, namespace: 'default' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: i < ready ? 'True' : 'False' }] },
  }));
}

describe('a disruption budget', () => {
  it.each<[policy.PodDisruptionBudgetSpec, { ready: number; unready?: number; scale?: number }, number[]]>([
    // desiredHealthy, currentHealthy, expectedPods, disruptionsAllowed
    [{ minAvailable: 2 }, { ready: 3 }, [2, 3, 3, 1]],
    [{ minAvailable: 2 }, { ready: 1, unready: 2 }, [2, 1, 3, 0]],
    [{ minAvailable: 2 }, { ready: 0 }, [2, 0, 0, 0]],
    [{ minAvailable: 0 }, { ready: 0 }, [0, 0, 0, 0]],
    [{ minAvailable: '50%' }, { ready: 5, scale: 5 }, [3, 5, 5, 2]],
    [{ minAvailable: '100%' }, { ready: 5, scale: 5 }, [5, 5, 5, 0]],
    [{ maxUnavailable: 1 }, { ready: 3, scale: 3 }, [2, 3, 3, 1]],
    [{ maxUnavailable: 5 }, { ready: 3, scale: 3 }, [0, 3, 3, 3]],
    [{ maxUnavailable: '30%' }, { ready: 10, scale: 10 }, [7, 10, 10, 3]],
    [{ maxUnavailable: '30%' }, { ready: 5, scale: 5 }, [3, 5, 5, 2]],
    [{ maxUnavailable: 1 }, { ready: 2, unready: 1, scale: 3 }, [2, 2, 3, 0]],
    // Pods that do not exist yet count as unhealthy.
    [{ maxUnavailable: 1 }, { ready: 2, scale: 5 }, [4, 2, 5, 0]],
    [{}, { ready: 3 }, [0, 3, 0, 0]],
  ])('%o of %o', (spec, { ready, unready = 0, scale = 0 }, expected) => {
    const { status } = evaluateBudget(budget(spec), pods(ready, unready), { scale, now: NOW }).budget;
    expect([status?.desiredHealthy, status?.currentHealthy, status?.expectedPods, status?.disruptionsAllowed]).toEqual(expected);
  });

  it.each([
    [{ maxUnavailable: 1 }, true],
    [{ minAvailable: '10%' }, true],
    [{ minAvailable: 1 }, false],
  ])('%o asks owners how many pods there should be: %s', (spec, expected) => {
    expect(needsScale(budget(spec))).toBe(expected);
  });

  it('says whether pods may be evicted, for which generation, and since when', () => {
    const first = evaluateBudget(budget({ minAvailable: 1 }), pods(2), { scale: 0, now: NOW }).budget;
    expect(first.status?.observedGeneration).toBe(2);
    const allowed = { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', observedGeneration: 2 };
    expect(first.status?.conditions).toEqual([{ ...allowed, lastTransitionTime: ago(0) }]);
    expect(evaluateBudget(first, pods(2), { scale: 0, now: NOW + 5000 }).budget).toBe(first);
    const later = evaluateBudget(first, pods(1), { scale: 0, now: NOW + 5000 }).budget;
    expect(later.status?.conditions).toMatchObject([{ status: 'False', reason: 'InsufficientPods', lastTransitionTime: ago(-5) }]);
  });

  it('does not count pods that go, or were promised to', () => {
    const [going, promised, ...others] = pods(5);
    const deleted = { ...going!, metadata: { ...going!.metadata, deletionTimestamp: ago(0) } };
    const disruptedPods = { p0: ago(10), p1: ago(10), unknown: ago(10) };
    const result = evaluateBudget(budget({ minAvailable: 1 }, { disruptedPods }), [deleted, promised!, ...others], { scale: 0, now: NOW });
    expect(result.budget.status).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 2, disruptedPods: { p1: ago(10) } });
    expect(result).toMatchObject({ overdue: [], recheckMs: 110_000 });
  });

  it('counts a pod again that did not go within two minutes', () => {
    const result = evaluateBudget(budget({ minAvailable: 1 }, { disruptedPods: { p0: ago(121) } }), pods(2), { scale: 0, now: NOW });
    expect(result.overdue.map(({ metadata }) => metadata.name)).toEqual(['p0']);
    expect(result.budget.status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
    expect(result.budget.status?.disruptedPods).toBeUndefined();
    expect(result.recheckMs).toBeUndefined();
  });

  it('allows nothing when its state cannot be found out', () => {
    const failed = failedBudget(
      budget({ maxUnavailable: 1 }, { disruptionsAllowed: 3, observedGeneration: 1 }),
      'found no controllers',
      NOW,
    );
    expect(failed.status).toMatchObject({ disruptionsAllowed: 0, observedGeneration: 1 });
    expect(failed.status?.conditions).toMatchObject([
      { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'found no controllers', observedGeneration: 1 },
    ]);
  });
});

describe('the claim of a pod to be about to go', () => {
  const target = (change: object = {}, pod: object = {}): core.Pod => ({
    metadata: { name: 'p', ...pod },
    status: {
      phase: 'Running',
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', lastTransitionTime: ago(30), ...change }],
    },
  });

  it.each<[string, core.Pod, number | undefined]>([
    ['holds for two minutes', target(), 90_000],
    ['is stale after that', target({ lastTransitionTime: ago(121) }), 0],
    ['is not made by a pod that takes it back', target({ status: 'False' }), undefined],
    ['is true of a pod that goes', target({}, { deletionTimestamp: ago(0) }), undefined],
    ['never gets stale when a kubelet makes it', target({ reason: 'TerminationByKubelet', lastTransitionTime: ago(999) }), undefined],
    ['is not made without the condition', { metadata: { name: 'p' }, status: { phase: 'Running' } }, undefined],
  ])('%s', (_name, pod, expected) => {
    expect(staleTargetMs(pod, NOW)).toBe(expected);
  });

  it('is of no interest once the pod has ended', () => {
    const pod = target();
    expect(staleTargetMs({ ...pod, status: { ...pod.status, phase: 'Failed' } }, NOW)).toBeUndefined();
  });
});
