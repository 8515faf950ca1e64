import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '#base';
import { openMemoryStore, type Store } from '#store';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';

// Objects of the right shape, which repair keeps, with values that no component can interpret: each only affects itself.

const PODS = '/api/v1/namespaces/default/pods';
const POLL = { timeout: 90_000, interval: 500 };
const CONTAINERS = [{ name: 'c', image: 'busybox' }];
const BOGUS = { matchExpressions: [{ key: 'a', operator: 'Bogus', values: ['b'] }] };

let store: Store;
let hostile: HostileCluster;

const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: CONTAINERS, ...spec } });

async function post(path: string, object: object): Promise<void> {
  const { code, body } = await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
  expect([code, body]).toEqual([201, expect.anything()]);
}

/** Writes what the API would reject. */
async function poison(key: string, change: (object: { spec: object; status?: object }) => object): Promise<void> {
  const { entry } = await store.get(key);
  const object = change(JSON.parse(Buffer.from(entry!.value).toString()) as { spec: object });
  await store.txn({ write: [{ type: 'put', key, value: Buffer.from(JSON.stringify(object)) }] });
}

beforeAll(async () => {
  store = openMemoryStore({ clock: realClock });
  hostile = await startHostileCluster({ store, controllerManager: { controllers: ['serviceaccount-controller'] } });
  await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } }).catch(() => {});
  await post(PODS, pod('unplaced', { schedulerName: 'nobody' }));
  await post(PODS, pod('placed', { nodeName: 'n1' }));
  await post('/api/v1/nodes', { metadata: { name: 'bad' } });
  await hostile.cluster[Symbol.asyncDispose]();
  const term = { labelSelector: BOGUS, topologyKey: 'kubernetes.io/hostname' };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  await poison('/registry/pods/default/unplaced', (object) => ({
    ...object,
    spec: { ...object.spec, schedulerName: 'default-scheduler', affinity },
  }));
  const limits = { memory: 'many', cpu: '--' };
  await poison('/registry/pods/default/placed', (object) => ({
    ...object,
    spec: { ...object.spec, containers: [{ ...CONTAINERS[0], resources: { limits, requests: limits } }] },
  }));
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: 'never', lastTransitionTime: 'never' }];
  await poison('/registry/minions/bad', (object) => ({
    ...object,
    status: { capacity: { cpu: 'all', pods: 'x' }, allocatable: { cpu: 'all' }, conditions },
  }));
  hostile = await startHostileCluster({ store, nodes: [{ type: 'simulated', name: 'n1' }] });
});
afterAll(() => hostile[Symbol.asyncDispose]());

describe('a cluster with a pod whose affinity, one whose limits and a node whose status make no sense', () => {
  test('schedules and runs other pods', async () => {
    expect(await hostile.send('/readyz')).toMatchObject({ code: 200 });
    await post(PODS, pod('good'));
    const phase = async () => JSON.parse((await hostile.send(`${PODS}/good`, { token: ADMIN_TOKEN })).body).status?.phase;
    await expect.poll(phase, POLL).toBe('Running');
  });

  test('marks other nodes that do not report', async () => {
    await post('/api/v1/nodes', { metadata: { name: 'late' } });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Test', message: '' }] } });
    expect((await hostile.send('/api/v1/nodes/late/status', { method: 'PATCH', token: ADMIN_TOKEN, headers, body })).code).toBe(200);
    const taints = async () => {
      const { spec } = JSON.parse((await hostile.send('/api/v1/nodes/late', { token: ADMIN_TOKEN })).body);
      return ((spec?.taints ?? []) as { key: string; effect: string }[])
        .filter(({ effect }) => effect === 'NoExecute')
        .map(({ key }) => key);
    };
    await expect.poll(taints, POLL).toEqual(['node.kubernetes.io/not-ready']);
  });

  test('lets them be deleted', async () => {
    for (const path of ['/api/v1/nodes/bad', `${PODS}/placed`, `${PODS}/unplaced`])
      expect((await hostile.send(`${path}?gracePeriodSeconds=0`, { method: 'DELETE', token: ADMIN_TOKEN })).code).toBe(200);
  });

  test('has no fault of its own', () => {
    expect(hostile.logged.filter((line) => /\b(Type|Range|Reference)Error\b/.test(line))).toEqual([]);
  });
});
