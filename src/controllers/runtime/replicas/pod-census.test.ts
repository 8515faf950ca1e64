import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { selectorFromObject } from '#machinery';
import { PodCensus } from './pod-census.ts';

const UID = 'set';
const RULES = {
  generation: 1,
  selector: selectorFromObject({ matchLabels: { app: 'web' } }),
  templateLabels: { app: 'web', tier: 'front' },
};

interface PodFacts {
  readonly owner?: string;
  readonly labels?: Record<string, string>;
  readonly ready?: boolean;
  readonly phase?: string;
  readonly isTerminating?: boolean;
}

function pod({ owner = UID, labels = RULES.templateLabels, ready = false, phase = 'Running', isTerminating = false }: PodFacts): core.Pod {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 's', uid: owner, controller: true }];
  return {
    metadata: { name: 'p', labels, ownerReferences, ...(isTerminating && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { containers: [] },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

function counted(...pods: readonly core.Pod[]) {
  const census = new PodCensus();
  census.count(UID, RULES, pods);
  return census;
}

const NONE = { active: 0, fullyLabeled: 0, ready: 0, terminating: 0, strays: 0 };

describe('a census of the pods of a set', () => {
  it.each([
    ['an active pod', {}, { active: 1, fullyLabeled: 1 }],
    ['a ready one', { ready: true }, { active: 1, fullyLabeled: 1, ready: 1 }],
    ['one with only the labels that are selected', { labels: { app: 'web' } }, { active: 1 }],
    ['one that is no longer selected', { labels: { app: 'other' } }, { strays: 1 }],
    ['one that is being deleted', { isTerminating: true, ready: true }, { terminating: 1 }],
    ['one that has ended', { phase: 'Failed' }, {}],
    ['one of another set', { owner: 'other' }, {}],
  ] as const)('counts %s', (_, facts, expected) => {
    const census = counted();
    census.added(pod(facts));
    expect(census.tallyOf(UID, 1)).toEqual({ ...NONE, ...expected });
  });

  it('follows a pod to its new owner', () => {
    const census = counted(pod({}));
    census.count('other', RULES, []);
    census.updated(pod({}), pod({ owner: 'other' }));
    expect(census.tallyOf(UID, 1)).toEqual(NONE);
    expect(census.tallyOf('other', 1)).toEqual({ ...NONE, active: 1, fullyLabeled: 1 });
  });

  it('is taken again after a deletion, for another generation, and for a set that was never counted', () => {
    const census = counted(pod({}), pod({}));
    expect(census.tallyOf(UID, 2)).toBeUndefined();
    expect(census.tallyOf('other', 1)).toBeUndefined();
    census.deleted(pod({ isTerminating: true }));
    expect(census.tallyOf(UID, 1)).toBeUndefined();
  });

  it('after any events says what counting anew says', () => {
    const facts = fc.record({
      owner: fc.constantFrom(UID, 'other'),
      labels: fc.constantFrom<Record<string, string>>({}, { app: 'web' }, { app: 'web', tier: 'front' }),
      ready: fc.boolean(),
      phase: fc.constantFrom('Pending', 'Running', 'Succeeded'),
      isTerminating: fc.boolean(),
    });
    const events = fc.array(fc.record({ at: fc.nat({ max: 4 }), pod: facts }), { maxLength: 30 });
    fc.assert(
      fc.property(events, (list) => {
        const census = counted();
        const pods = new Map<number, core.Pod>();
        for (const { at, pod: next } of list) {
          const before = pods.get(at);
          const after = pod(next);
          if (before === undefined) census.added(after);
          else census.updated(before, after);
          pods.set(at, after);
        }
        const own = [...pods.values()].filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === UID);
        expect(census.tallyOf(UID, 1)).toEqual(counted(...own).tallyOf(UID, 1));
      }),
    );
  });
});
