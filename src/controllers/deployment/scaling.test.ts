import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { apps } from '#api';
import { type OwnedReplicaSets, replicasOf } from './replica-sets.ts';
import { rollingStep } from './rolling-update.ts';
import { isScalingEvent, maxSurge, maxUnavailable, resize } from './scaling.ts';

function deployment(replicas: number, rollingUpdate: apps.RollingUpdateDeployment = {}): apps.Deployment {
  const strategy = { type: 'RollingUpdate', rollingUpdate };
  return { metadata: { name: 'd' }, spec: { replicas, selector: {}, template: {}, strategy } };
}

function set(name: string, replicas: number, { available = replicas, desired = 0, max = 0, age = 0 } = {}): apps.ReplicaSet {
  const annotations = { 'deployment.kubernetes.io/desired-replicas': `${desired}`, 'deployment.kubernetes.io/max-replicas': `${max}` };
  const creationTimestamp = `2026-01-01T00:00:${String(59 - age).padStart(2, '0')}Z`;
  const status = { replicas, availableReplicas: available };
  return { metadata: { name, annotations, creationTimestamp }, spec: { replicas, selector: {} }, status };
}

const sizes = (scales: readonly { readonly set: apps.ReplicaSet; readonly replicas: number }[]) =>
  Object.fromEntries(scales.map(({ set: { metadata }, replicas }) => [metadata.name, replicas]));

describe('the bounds of a rolling update', () => {
  it.each([
    { replicas: 10, surge: '25%', unavailable: '25%', expected: [3, 2] },
    { replicas: 1, surge: '25%', unavailable: '25%', expected: [1, 0] },
    { replicas: 4, surge: 0, unavailable: 0, expected: [0, 1] },
    { replicas: 2, surge: 1, unavailable: 5, expected: [1, 2] },
    { replicas: 0, surge: 1, unavailable: 1, expected: [1, 0] },
  ])('of $replicas with surge $surge and unavailable $unavailable are $expected', ({ replicas, surge, unavailable, expected }) => {
    const scaled = deployment(replicas, { maxSurge: surge, maxUnavailable: unavailable });
    expect([maxSurge(scaled), maxUnavailable(scaled)]).toEqual(expected);
  });
});

describe('resizing', () => {
  it('sizes the only active set', () => {
    expect(sizes(resize(deployment(5), { current: set('new', 3), old: [set('old', 0)] }))).toEqual({ new: 5 });
  });

  it('empties old sets when the current one has all that is wanted', () => {
    const sets = { current: set('new', 5, { desired: 5 }), old: [set('old', 2)] };
    expect(sizes(resize(deployment(5), sets))).toEqual({ old: 0 });
  });

  it('shares growth in proportion, the rest to the largest', () => {
    const sets = { current: set('new', 5, { max: 13 }), old: [set('old', 8, { max: 13, age: 5 })] };
    expect(sizes(resize(deployment(15, { maxSurge: 3, maxUnavailable: 2 }), sets))).toEqual({ old: 11, new: 7 });
  });

  it('is asked for when the size that sets remember is another', () => {
    expect(isScalingEvent(deployment(5), { current: set('new', 3, { desired: 3 }), old: [] })).toBe(true);
    expect(isScalingEvent(deployment(3), { current: set('new', 3, { desired: 3 }), old: [] })).toBe(false);
  });
});

describe('a step of a rolling update', () => {
  it('takes unready old pods before ready ones', () => {
    const sets = { current: set('new', 3, { available: 0 }), old: [set('old', 8, { available: 6 })] };
    expect(sizes(rollingStep(deployment(8, { maxSurge: 3, maxUnavailable: 2 }), sets))).toEqual({ old: 6 });
  });

  it('waits for sets that have not seen their size yet', () => {
    const current = set('new', 4);
    const sets = { current: { ...current, metadata: { ...current.metadata, generation: 2 } }, old: [set('old', 4)] };
    expect(rollingStep(deployment(4, { maxSurge: 4, maxUnavailable: 1 }), sets)).toEqual([]);
  });

  it('keeps to its bounds and ends with the current set alone, from any beginning', () => {
    const small = fc.nat(12);
    fc.assert(
      fc.property(fc.record({ desired: small, surge: small, unavailable: small, first: small, second: small }), (sizes) => {
        const scaled = deployment(sizes.desired, { maxSurge: sizes.surge, maxUnavailable: sizes.unavailable });
        let sets: OwnedReplicaSets = {
          current: set('new', 0),
          old: [set('a', sizes.first, { age: 2 }), set('b', sizes.second, { age: 1 })],
        };
        const total = () => [...sets.old, sets.current!].reduce((sum, replicaSet) => sum + replicasOf(replicaSet), 0);
        const limit = Math.max(total(), sizes.desired + maxSurge(scaled));
        const least = Math.min(total(), sizes.desired - maxUnavailable(scaled));
        for (let scales = rollingStep(scaled, sets), i = 0; scales.length > 0; scales = rollingStep(scaled, sets)) {
          const after = (replicaSet: apps.ReplicaSet) => {
            const scale = scales.find((candidate) => candidate.set === replicaSet);
            return scale ? { ...set(replicaSet.metadata.name, scale.replicas), metadata: replicaSet.metadata } : replicaSet;
          };
          sets = { current: after(sets.current!), old: sets.old.map(after) };
          expect(total()).toBeLessThanOrEqual(limit);
          expect(total()).toBeGreaterThanOrEqual(least);
          expect(i++).toBeLessThan(100);
        }
        expect([replicasOf(sets.current!), total()]).toEqual([sizes.desired, sizes.desired]);
      }),
    );
  });
});
