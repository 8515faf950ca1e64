import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { core } from '#api';
import { realClock } from '#base';
import { openMemoryStore, type Store } from '#store';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';

// Objects that no component can handle, as a damaged store or an older version might contain: each only affects itself.

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const PODS = '/api/v1/namespaces/default/pods';
const POLL = { timeout: 90_000, interval: 500 };
const LABELS = { app: 'a' };
const CONTAINERS = [{ name: 'c', image: 'busybox' }];

let store: Store;
let hostile: HostileCluster;

const deployment = (name: string) => ({
  metadata: { name },
  spec: { replicas: 1, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: { containers: CONTAINERS } } },
});
const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: CONTAINERS, ...spec } });

async function post(path: string, object: object): Promise<void> {
  const { code, body } = await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
  expect([code, body]).toEqual([201, expect.anything()]);
}

/** Writes what the API would reject. */
async function poison(key: string, spec: unknown, fields: object = {}): Promise<void> {
  const { entry } = await store.get(key);
  const object = JSON.parse(Buffer.from(entry!.value).toString()) as object;
  await store.txn({ write: [{ type: 'put', key, value: Buffer.from(JSON.stringify({ ...object, spec, ...fields })) }] });
}

beforeAll(async () => {
  store = openMemoryStore({ clock: realClock });
  hostile = await startHostileCluster({ store, controllerManager: { controllers: ['serviceaccount-controller'] } });
  await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } }).catch(() => {});
  await post(DEPLOYMENTS, deployment('poison'));
  await post(PODS, pod('unplaced', { schedulerName: 'nobody' }));
  await post(PODS, pod('placed', { nodeName: 'n1' }));
  await post('/api/v1/nodes', { metadata: { name: 'bad' } });
  await post('/apis/networking.k8s.io/v1/servicecidrs', { metadata: { name: 'bad' }, spec: { cidrs: ['10.200.0.0/16'] } });
  await hostile.cluster[Symbol.asyncDispose]();
  const selector = { matchExpressions: [{ key: 'a', operator: 'Bogus' }] };
  const { spec } = deployment('poison');
  await poison('/registry/deployments/default/poison', { ...spec, selector });
  await poison('/registry/pods/default/unplaced', { schedulerName: 'default-scheduler', containers: [null] });
  await poison('/registry/pods/default/placed', { nodeName: 'n1', containers: [null] });
  await poison('/registry/minions/bad', { taints: [null] }, { status: { conditions: [null, { type: 'Ready', status: 'True' }] } });
  await poison('/registry/servicecidrs/bad', { cidrs: [null, 7] });
  hostile = await startHostileCluster({ store, nodes: [{ type: 'simulated', name: 'n1' }] });
});
afterAll(() => hostile[Symbol.asyncDispose]());

interface Event {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

async function quarantined(): Promise<string[]> {
  const { body } = await hostile.send('/api/v1/namespaces/default/events', { token: ADMIN_TOKEN });
  const { items } = JSON.parse(body) as { items: Event[] };
  const quarantines = items.filter(({ reason }) => reason === 'Quarantined');
  return [...new Set(quarantines.map(({ involvedObject: { kind, name } }) => `${kind} ${name}`))].toSorted();
}

async function quarantinedCount(): Promise<number> {
  const { body } = await hostile.send('/metrics', { token: ADMIN_TOKEN });
  return [...body.matchAll(/^sampan_quarantined_objects\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe('a cluster whose store has poisonous objects', () => {
  test('starts, and runs what is good', async () => {
    expect(await hostile.send('/readyz')).toMatchObject({ code: 200 });
    await post(DEPLOYMENTS, deployment('good'));
    const ready = async () => JSON.parse((await hostile.send(`${DEPLOYMENTS}/good`, { token: ADMIN_TOKEN })).body).status?.readyReplicas;
    await expect.poll(ready, POLL).toBe(1);
  });

  test('looks after the health of the nodes that come after a poisonous one', async () => {
    const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
    await post('/api/v1/nodes', { metadata: { name: 'late' }, spec: { taints: [taint] } });
    const conditions = [{ type: 'Ready', status: 'False', reason: 'Test', message: '' }];
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = JSON.stringify({ status: { conditions } });
    expect((await hostile.send('/api/v1/nodes/late/status', { method: 'PATCH', token: ADMIN_TOKEN, headers, body })).code).toBe(200);
    const taints = async () => {
      const { spec } = JSON.parse((await hostile.send('/api/v1/nodes/late', { token: ADMIN_TOKEN })).body) as core.Node;
      return (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
    };
    await expect.poll(taints, POLL).toEqual(['node.kubernetes.io/not-ready']);
  });

  test('gives services addresses of the ranges that are good', async () => {
    await post('/api/v1/namespaces/default/services', { metadata: { name: 'good' }, spec: { ports: [{ port: 80 }] } });
  });

  test('says on what a controller fails on that it is quarantined', async () => {
    await expect.poll(quarantined, POLL).toEqual(['Deployment poison']);
    expect(await quarantinedCount()).toBeGreaterThanOrEqual(1);
  });

  test('lets them be deleted, and forgets them', async () => {
    for (const path of ['/api/v1/nodes/bad', `${DEPLOYMENTS}/poison`, `${PODS}/placed`, `${PODS}/unplaced`])
      expect((await hostile.send(`${path}?gracePeriodSeconds=0`, { method: 'DELETE', token: ADMIN_TOKEN })).code).toBe(200);
    await expect.poll(quarantinedCount, POLL).toBe(0);
  });
});
