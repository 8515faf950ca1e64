import { describe, expect, test } from 'vitest';
import { VirtualClock } from '#base';
import { openMemoryStore } from '#store';
import { Invariants } from './invariants.ts';
import { ObservedState } from './observed-state.ts';
import type { ShakyCluster } from './shaky-cluster.ts';

interface Draft {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [more: string]: unknown };
  readonly [more: string]: unknown;
}

const TIME = '2026-01-01T00:00:00Z';

/** A store with states that a correct cluster never writes. */
function openByHand() {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  const state = new ObservedState(store, clock);
  const running = [{ state: 'running', labels: { 'io.kubernetes.pod.uid': 'db-0' } }];
  const runtimes = new Map([['n1', { listContainers: async () => running }]]) as unknown as ShakyCluster['runtimes'];
  const invariants = new Invariants(state, { runtimes } as ShakyCluster);
  const put = async (kind: string, { metadata, ...rest }: Draft, uid = metadata.name) => {
    const object = { metadata: { namespace: 'default', uid, creationTimestamp: TIME, ...metadata }, ...rest };
    const value = Buffer.from(JSON.stringify(object));
    await store.txn({ write: [{ type: 'put', key: `/registry/${kind}/default/${metadata.name}`, value }] });
    await clock.settle();
    return invariants.faults.length;
  };
  return { clock, invariants, put };
}

const owned = (kind: string, name: string) => ({ ownerReferences: [{ kind, name, uid: name, controller: true }] });
const deployment = (name: string, replicas: number, maxSurge: number, maxUnavailable: number): Draft => ({
  metadata: { name },
  spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } },
});
const set = (name: string, owner: string, replicas: number): Draft => ({
  metadata: { name, ...owned('Deployment', owner) },
  spec: { replicas },
});
const pod = (name: string, owner: readonly [string, string], overrides: object = {}, status: object = {}): Draft => ({
  metadata: { name, ...owned(...owner), ...overrides },
  status,
});
const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: TIME }] };

describe('what is checked at every revision', () => {
  test('finds sets that ask for more than surge allows', async () => {
    const { put, invariants } = openByHand();
    await put('deployments', deployment('web', 3, 1, 0));
    await put('replicasets', set('old', 'web', 3));
    expect(await put('replicasets', set('new', 'web', 1))).toBe(0);
    await put('replicasets', set('new', 'web', 2));
    expect(invariants.faults[0]).toContain('web asks for 5 pods, and maxSurge allows 4');
  });

  test('forgives a limit that was lowered a moment ago, and not one that was long ago', async () => {
    const { put, clock } = openByHand();
    await put('deployments', deployment('web', 3, 1, 0));
    await put('deployments', deployment('web', 1, 1, 0));
    expect(await put('replicasets', set('old', 'web', 3))).toBe(0);
    await clock.advance(600_000);
    expect(await put('replicasets', set('old', 'web', 4))).toBe(1);
  });

  test('finds sets that take away pods that are still needed', async () => {
    const { put, invariants } = openByHand();
    await put('deployments', deployment('calm', 2, 1, 0));
    await put('replicasets', set('old', 'calm', 2));
    for (const name of ['p1', 'p2']) await put('pods', pod(name, ['ReplicaSet', 'old'], {}, READY));
    await put('replicasets', set('old', 'calm', 1));
    expect(invariants.faults[0]).toContain('calm leaves 1 pods available, and maxUnavailable asks for 2');
  });

  test('finds pods that are doubled', async () => {
    const { put, invariants } = openByHand();
    await put('replicasets', set('old', 'web', 1));
    expect(await put('pods', pod('p1', ['ReplicaSet', 'old']))).toBe(0);
    expect(await put('pods', pod('p2', ['ReplicaSet', 'old']))).toBe(1);
    expect(invariants.faults[0]).toContain('ReplicaSet old has 2 pods, and asked for 1');
  });

  test('finds indexes that are worked on twice, but not one that is tried again', async () => {
    const { put, invariants } = openByHand();
    const annotations = { 'batch.kubernetes.io/job-completion-index': '4' };
    await put('jobs', { metadata: { name: 'work' }, spec: { parallelism: 3 } });
    await put('pods', pod('p1', ['Job', 'work'], { annotations }, { phase: 'Failed' }));
    expect(await put('pods', pod('p2', ['Job', 'work'], { annotations }, { phase: 'Succeeded' }))).toBe(0);
    expect(await put('pods', pod('p3', ['Job', 'work'], { annotations }))).toBe(1);
    expect(invariants.faults[0]).toContain('index 4 is worked on twice');
  });

  test('finds pods that move, and names that run in two places', async () => {
    const { put, invariants, clock } = openByHand();
    await put('pods', { ...pod('p1', ['ReplicaSet', 'x']), spec: { nodeName: 'n1' } });
    invariants.faults.length = 0;
    await put('pods', { ...pod('p1', ['ReplicaSet', 'x']), spec: { nodeName: 'n2' } });
    expect(invariants.faults[0]).toContain('moved from n1 to n2');
    await put('pods', pod('db-0', ['StatefulSet', 'db']));
    await clock.settle();
    expect(invariants.faults.at(-1)).toContain('db-0 is made again while it runs on n1');
  });

  test('finds a budget that is broken', async () => {
    const { put, invariants } = openByHand();
    const labels = { app: 'guarded' };
    for (const name of ['p1', 'p2', 'p3']) await put('pods', pod(name, ['Other', 'x'], { labels }, READY));
    invariants.guard();
    expect(await put('pods', pod('p4', ['Other', 'x']))).toBe(0);
    await put('pods', pod('p3', ['Other', 'x'], { labels, deletionTimestamp: TIME }, READY));
    expect(invariants.faults.at(-1)).toContain('2 guarded pods are healthy, and their budget asks for 3');
  });
});
