import { describe, expect, it } from 'vitest';
import type { apps, core } from '#api';
import { type ObservedStatefulSet, planStateful, withStatefulStatus } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1, 1);
const READY_SINCE = '2026-01-01T00:00:00Z';

type State = 'ready' | 'young' | 'pending' | 'failed' | 'succeeded' | 'going';
type Slot = State | `${State} old`;

/** Pods by ordinal, in short form: `ready`, or `ready old` for one of the previous revision. */
function pod(ordinal: number, slot: Slot): core.Pod {
  const [state, age = 'new'] = slot.split(' ');
  const phases: Record<string, string> = { pending: 'Pending', failed: 'Failed', succeeded: 'Succeeded' };
  const isReady = state === 'ready' || state === 'young' || state === 'going';
  const lastTransitionTime = state === 'young' ? '2026-01-01T00:59:58Z' : READY_SINCE;
  return {
    metadata: {
      name: `db-${ordinal}`,
      labels: { 'controller-revision-hash': `db-${age}`, 'statefulset.kubernetes.io/pod-name': `db-${ordinal}` },
      ...(state === 'going' && { deletionTimestamp: READY_SINCE }),
    },
    status: { phase: phases[state!] ?? 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }] },
  };
}

interface Draft {
  readonly spec?: Partial<apps.StatefulSetSpec>;
  readonly status?: Partial<apps.StatefulSetStatus>;
  readonly slots: Readonly<Record<number, Slot>>;
}

function observe({ spec = {}, status = {}, slots }: Draft): ObservedStatefulSet {
  const template = { spec: { containers: [] } };
  const full = { replicas: 3, serviceName: 'db', selector: {}, updateStrategy: { type: 'RollingUpdate' }, template, ...spec };
  const set = { metadata: { name: 'db', generation: 4 }, spec: full, status: { replicas: 0, ...status } };
  const pods = Object.entries(slots).map(([ordinal, slot]) => pod(Number(ordinal), slot));
  const isUpdating = Object.values(slots).some((slot) => slot.endsWith('old'));
  return { set, pods, claims: () => undefined, currentRevision: isUpdating ? 'db-old' : 'db-new', updateRevision: 'db-new', now: NOW };
}

function plan(draft: Draft): readonly string[] {
  return planStateful(observe(draft)).map((action) =>
    action.type === 'create' ? `create ${action.ordinal} ${action.revision}` : `${action.type} ${action.pod.metadata.name}`,
  );
}

const PARALLEL = { podManagementPolicy: 'Parallel' };

describe('a stateful set', () => {
  it.each<[string, Draft, string[]]>([
    ['begins with the first', { slots: {} }, ['create 0 update']],
    ['begins where it is told to', { spec: { ordinals: { start: 5 } }, slots: {} }, ['create 5 update']],
    ['goes on when the last one is ready', { slots: { 0: 'ready' } }, ['create 1 update']],
    ['waits for one that is not', { slots: { 0: 'pending' } }, []],
    ['waits for one that is ready for too short a time', { spec: { minReadySeconds: 10 }, slots: { 0: 'young' } }, []],
    ['waits for one that goes', { slots: { 0: 'going', 1: 'ready', 2: 'ready' } }, []],
    ['fills gaps first', { slots: { 0: 'ready', 2: 'ready' } }, ['create 1 update']],
    ['replaces one that failed', { slots: { 0: 'ready', 1: 'failed', 2: 'ready' } }, ['delete db-1']],
    ['replaces one that ended well, too', { slots: { 0: 'succeeded' } }, ['delete db-0']],
    ['makes all at once when told to', { spec: PARALLEL, slots: { 1: 'pending' } }, ['create 0 update', 'create 2 update']],
    ['is at rest when all are ready', { slots: { 0: 'ready', 1: 'ready', 2: 'ready' } }, []],
    ['ignores pods without a number', { slots: { 0: 'ready', 1: 'ready', 2: 'ready', [-1]: 'ready' } }, []],
  ])('%s', (_name, draft, expected) => {
    expect(plan(draft)).toEqual(expected);
  });

  it.each<[string, Draft, string[]]>([
    ['takes the highest away', { slots: { 0: 'ready', 1: 'ready', 2: 'ready', 3: 'ready', 4: 'ready' } }, ['delete db-4']],
    ['waits until it is gone', { slots: { 0: 'ready', 1: 'ready', 2: 'ready', 3: 'ready', 4: 'going' } }, []],
    ['waits until those that stay are healthy', { slots: { 0: 'ready', 1: 'pending', 2: 'ready', 3: 'ready' } }, []],
    ['takes an unhealthy one away when no other is', { slots: { 0: 'ready', 1: 'ready', 2: 'ready', 3: 'pending' } }, ['delete db-3']],
    ['waits when a lower one is unhealthy, too', { slots: { 0: 'ready', 1: 'ready', 2: 'ready', 3: 'pending', 4: 'pending' } }, []],
    ['does not wait for a lower one that goes', { slots: { 0: 'ready', 1: 'ready', 2: 'ready', 3: 'going', 4: 'ready' } }, ['delete db-4']],
    [
      'takes those before the first away, too',
      { spec: { ordinals: { start: 1 }, replicas: 1 }, slots: { 0: 'ready', 1: 'ready' } },
      ['delete db-0'],
    ],
    [
      'takes all away at once when told to',
      { spec: { ...PARALLEL, replicas: 1 }, slots: { 0: 'ready', 1: 'ready', 2: 'pending' } },
      ['delete db-2', 'delete db-1'],
    ],
  ])('that has too many %s', (_name, draft, expected) => {
    expect(plan(draft)).toEqual(expected);
  });

  const OLD: Draft['slots'] = { 0: 'ready old', 1: 'ready old', 2: 'ready old' };
  it.each<[string, Draft, string[]]>([
    ['begins with the highest', { slots: OLD }, ['delete db-2']],
    ['waits until it is ready again', { slots: { ...OLD, 2: 'pending' } }, []],
    ['goes on then', { slots: { ...OLD, 2: 'ready' } }, ['delete db-1']],
    ['makes it anew', { status: { currentReplicas: 2 }, slots: { 0: 'ready old', 1: 'ready old' } }, ['create 2 update']],
    [
      'makes it anew where its strategy is spelled out',
      {
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } },
        status: { currentReplicas: 3 },
        slots: { 0: 'ready old', 1: 'ready old' },
      },
      ['create 2 update'],
    ],
    [
      'does more than one thing at once when told to',
      { spec: PARALLEL, slots: { 1: 'ready old', 2: 'ready old', 3: 'ready' } },
      ['create 0 update', 'delete db-3', 'delete db-2'],
    ],
    ['makes others as they were', { status: { currentReplicas: 2 }, slots: { 0: 'ready old', 2: 'ready' } }, ['create 1 current']],
    ['replaces old pods that are broken', { slots: { ...OLD, 2: 'pending old' }, spec: PARALLEL }, ['delete db-2']],
    [
      'stops at the partition',
      { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }, slots: { ...OLD, 2: 'ready' } },
      [],
    ],
    ['leaves it to others when told to', { spec: { updateStrategy: { type: 'OnDelete' } }, slots: OLD }, []],
  ])('that is updated %s', (_name, draft, expected) => {
    expect(plan(draft)).toEqual(expected);
  });
});

describe('the status of a stateful set', () => {
  it('counts pods by what they are', () => {
    const slots: Draft['slots'] = { 0: 'ready old', 1: 'young old', 2: 'failed', 3: 'going' };
    const { status } = withStatefulStatus(observe({ spec: { minReadySeconds: 10 }, slots }));
    expect(status).toMatchObject({ observedGeneration: 4, replicas: 4, readyReplicas: 3, currentReplicas: 2, updatedReplicas: 1 });
    expect(status).toMatchObject({ availableReplicas: 2, currentRevision: 'db-old', updateRevision: 'db-new' });
  });

  it('has a collision count from the start, as upstream', () => {
    expect(withStatefulStatus(observe({ slots: {} })).status).toMatchObject({ collisionCount: 0 });
  });

  it('no longer counts a pod of the old revision that was just deleted for the update', () => {
    const { status } = withStatefulStatus(observe({ slots: { 0: 'ready old', 1: 'ready old', 2: 'ready old' } }), 1);
    expect(status).toMatchObject({ replicas: 3, currentReplicas: 2 });
  });

  it('makes the new revision the current one when all pods have it and are ready', () => {
    const observed = observe({ slots: { 0: 'ready', 1: 'ready', 2: 'ready' } });
    const { status } = withStatefulStatus({ ...observed, currentRevision: 'db-old' });
    expect(status).toMatchObject({ currentRevision: 'db-new', currentReplicas: 3, updatedReplicas: 3 });
  });

  it('is not written when unchanged', () => {
    const observed = observe({ slots: { 0: 'ready' } });
    const set = withStatefulStatus(observed);
    expect(withStatefulStatus({ ...observed, set })).toBe(set);
  });
});

describe('a stateful set of two billion replicas', () => {
  const HUGE = { replicas: 2147483647 };

  it('gets 500 pods in one pass when it keeps no order, and the next 500 when these are there', () => {
    const first = planStateful(observe({ spec: { ...HUGE, ...PARALLEL }, slots: {} }));
    expect(first).toHaveLength(500);
    expect(first.at(-1)).toEqual({ type: 'create', ordinal: 499, revision: 'update' });
    const slots = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [i, 'ready' as const]));
    const next = planStateful(observe({ spec: { ...HUGE, ...PARALLEL }, slots: { ...slots, 5000: 'failed' } }));
    expect(next).toHaveLength(501);
    expect(next[0]).toEqual({ type: 'create', ordinal: 500, revision: 'update' });
    expect(next.at(-1)).toMatchObject({ type: 'delete', pod: { metadata: { name: 'db-5000' } } });
  });

  it('gets one pod at a time when it keeps an order', () => {
    expect(plan({ spec: HUGE, slots: {} })).toEqual(['create 0 update']);
    expect(plan({ spec: HUGE, slots: { 0: 'ready old' } })).toEqual(['create 1 update']);
  });
});

describe('what one sync creates of a parallel set of two billion replicas', () => {
  it.each([
    { claims: 0, pods: 500 },
    { claims: 49, pods: 10 },
    { claims: 1000, pods: 1 },
  ])('$pods pods with $claims claims each', ({ claims, pods }) => {
    const volumeClaimTemplates = Array.from({ length: claims }, (_, i) => ({ metadata: { name: `v${i}` } }));
    expect(plan({ spec: { ...PARALLEL, replicas: 2147483647, volumeClaimTemplates }, slots: {} })).toHaveLength(pods);
  });
});
