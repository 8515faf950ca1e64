import { afterAll, beforeAll, expect, test } from 'vitest';
import { core } from '#api';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// The largest pods that can be stored, through admission, informers, the scheduler, controllers and a kubelet.

const PODS = '/api/v1/namespaces/default/pods';
const POLL = { timeout: 60_000, interval: 100 };
let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster({ nodes: ['n1', 'n2'].map((name) => ({ type: 'simulated', name })) });
});
afterAll(() => hostile[Symbol.asyncDispose]());

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const container = { name: 'c', image: 'busybox' };
const containers = [container];
const request = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } };

/** The number of parts of a pod, and the state that it is expected to reach. */
type Goal = 'Running' | 'placed' | 'unschedulable';
const CASES: readonly (readonly [string, { readonly spec: object; readonly copies?: number; readonly goal: Goal }])[] = [
  ['containers', { spec: { containers: many(1500, (i) => ({ ...container, name: `c${i}` })) }, goal: 'Running' }],
  ['host ports', { spec: { containers: [{ ...container, ports: many(5000, hostPort) }] }, copies: 2, goal: 'Running' }],
  ['exclusive disks', { spec: { containers, volumes: many(9000, disk) }, goal: 'placed' }],
  ['missing claims', { spec: { containers, volumes: many(9000, claim) }, goal: 'unschedulable' }],
  ['ephemeral volumes', { spec: { containers, volumes: many(500, ephemeral) }, goal: 'unschedulable' }],
  ['tolerations', { spec: { containers, tolerations: many(15_000, (i) => ({ key: `k${i}`, operator: 'Exists' })) }, goal: 'Running' }],
];

function hostPort(i: number): object {
  return { containerPort: i + 1, hostPort: i + 1 };
}

function disk(i: number): object {
  return { name: `v${i}`, gcePersistentDisk: { pdName: `d${i}` } };
}

function claim(i: number): object {
  return { name: `v${i}`, persistentVolumeClaim: { claimName: `d${i}` } };
}

function ephemeral(i: number): object {
  return { name: `v${i}`, ephemeral: { volumeClaimTemplate: { spec: { ...request, storageClassName: 'none' } } } };
}

function isReached(goal: Goal, { spec, status }: core.Pod): boolean {
  if (goal === 'Running') return status?.phase === 'Running';
  if (goal === 'placed') return spec?.nodeName !== undefined;
  return status?.conditions?.some(({ type, status: is }) => type === 'PodScheduled' && is === 'False') === true;
}

let attempts = 0;

async function run({ spec, copies = 1, goal }: (typeof CASES)[number][1]): Promise<void> {
  const pods = hostile.cluster.client.of(core.Pod);
  const names = many(copies, (i) => `large${i}-${attempts}`);
  attempts++;
  for (const name of names) {
    const body = JSON.stringify({ metadata: { name }, spec });
    expect((await hostile.send(PODS, { method: 'POST', token: ADMIN_TOKEN, body })).code).toBe(201);
  }
  const areReached = async () => {
    const all = await Promise.all(names.map((name) => pods.get({ name, namespace: 'default' })));
    return all.every((pod) => isReached(goal, pod));
  };
  await expect.poll(areReached, POLL).toBe(true);
  for (const name of names) await hostile.send(`${PODS}/${name}?gracePeriodSeconds=0`, { method: 'DELETE', token: ADMIN_TOKEN });
}

test.each(CASES)('a pod with thousands of %s is handled in short turns', { timeout: 300_000 }, async (_, pod) => {
  const { longestMs } = await timedTurns(TURN_BUDGET_MS, () => run(pod));
  expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
});
