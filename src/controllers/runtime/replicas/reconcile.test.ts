import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { BURST_REPLICAS, countReplicas, failureConditions, type ReplicaCondition, reconcileReplicas } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1, 1);

function pods(count: number, readySince?: string): core.Pod[] {
  const conditions = readySince ? [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }] : [];
  return Array.from({ length: count }, (_, i) => ({
    metadata: { name: `p${i}`, uid: `p${i}`, labels: { app: 'web', ...(i === 0 && { extra: 'yes' }) } },
    spec: { nodeName: 'n', containers: [] },
    status: { phase: 'Running', conditions },
  }));
}

const view = (replicas: number, changes: object = {}) => ({ replicas, minReadySeconds: 0, templateLabels: {}, ...changes });

describe('a replica set', () => {
  it.each([
    { desired: 3, have: 3, expected: 'none' },
    { desired: 3, have: 1, expected: 'create 2' },
    { desired: 1, have: 3, expected: 'delete 2' },
    { desired: 0, have: 0, expected: 'none' },
    { desired: 1000, have: 0, expected: `create ${BURST_REPLICAS}` },
    { desired: 0, have: 600, expected: `delete ${BURST_REPLICAS}` },
  ])('that wants $desired and has $have: $expected', ({ desired, have, expected }) => {
    const active = pods(have);
    const action = reconcileReplicas(view(desired), { count: active.length, active: () => active, related: () => active }, NOW);
    const count = action.type === 'create' ? ` ${action.count}` : action.type === 'delete' ? ` ${action.pods.length}` : '';
    expect(`${action.type}${count}`).toBe(expected);
  });

  it('counts pods by their labels, their readiness and for how long', () => {
    const all = [...pods(2, '2026-01-01T00:00:00Z'), ...pods(1, '2026-01-01T00:59:55Z'), ...pods(1)];
    const counts = countReplicas(view(4, { minReadySeconds: 10, templateLabels: { app: 'web', extra: 'yes' } }), all, NOW);
    expect(counts).toEqual({ replicas: 4, fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 2 });
  });

  it('has the condition ReplicaFailure with the first error until it succeeds', () => {
    const none: readonly ReplicaCondition[] = [];
    const first = failureConditions(none, { surplus: -2, message: 'quota' }, NOW);
    expect(first).toEqual([
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota', lastTransitionTime: '2026-01-01T01:00:00Z' },
    ]);
    expect(failureConditions(first, { surplus: -2, message: 'other' }, NOW)).toEqual(first);
    expect(failureConditions(first, undefined, NOW)).toEqual([]);
    expect(failureConditions(none, { surplus: 2, message: 'x' }, NOW)[0]?.reason).toBe('FailedDelete');
  });
});
