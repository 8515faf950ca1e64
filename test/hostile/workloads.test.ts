import { afterAll, beforeAll, expect, test } from 'vitest';
import { apps, core } from '#api';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';

let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster({ nodes: [{ type: 'simulated', name: 'n1' }] });
});
afterAll(async () => {
  await hostile[Symbol.asyncDispose]();
});

const PODS = '/api/v1/namespaces/default/pods';
const POLL = { timeout: 60_000 };

test('a pod whose variables multiply waits with the reason, and other pods run', async () => {
  const reference = (name: string) => `$(${name})`.repeat(74);
  const env = [
    { name: 'A', value: 'x'.repeat(1000) },
    { name: 'B', value: reference('A') },
    { name: 'C', value: reference('B') },
    { name: 'D', value: reference('C') },
  ];
  const containers = Array.from({ length: 15 }, (_, i) => ({ name: `c${i}`, image: 'busybox', env }));
  const body = JSON.stringify({ metadata: { name: 'multiplied' }, spec: { containers } });
  expect((await hostile.send(PODS, { method: 'POST', token: ADMIN_TOKEN, body })).code).toBe(201);
  const pods = hostile.cluster.client.of(core.Pod);
  const waiting = async () =>
    (await pods.get({ name: 'multiplied', namespace: 'default' })).status?.containerStatuses?.[0]?.state?.waiting?.reason;
  await expect.poll(waiting, POLL).toBe('CreateContainerConfigError');
  const good = JSON.stringify({ metadata: { name: 'good' }, spec: { containers: [{ name: 'c', image: 'busybox' }] } });
  expect((await hostile.send(PODS, { method: 'POST', token: ADMIN_TOKEN, body: good })).code).toBe(201);
  await expect.poll(async () => (await pods.get({ name: 'good', namespace: 'default' })).status?.phase, POLL).toBe('Running');
});

test('a stateful set of two billion replicas gets what the quota allows, and goes when deleted', async () => {
  const send = async (path: string, object: object) =>
    expect((await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) })).code).toBe(201);
  await send('/api/v1/namespaces', { metadata: { name: 'huge' } });
  await send('/api/v1/namespaces/huge/resourcequotas', { metadata: { name: 'few' }, spec: { hard: { pods: '20' } } });
  const quotas = hostile.cluster.client.of(core.ResourceQuota);
  await expect.poll(async () => (await quotas.get({ name: 'few', namespace: 'huge' })).status?.hard?.pods, POLL).toBe('20');
  const path = '/apis/apps/v1/namespaces/huge/statefulsets';
  // Never scheduled: the test is about the controller.
  const template = {
    metadata: { labels: { app: 'huge' } },
    spec: { schedulerName: 'none', containers: [{ name: 'c', image: 'busybox' }] },
  };
  const selector = { matchLabels: { app: 'huge' } };
  const spec = { replicas: 2147483647, podManagementPolicy: 'Parallel', serviceName: 's', selector, template };
  await send(path, { metadata: { name: 'huge' }, spec });
  const sets = hostile.cluster.client.of(apps.StatefulSet);
  const replicas = async () => (await sets.get({ name: 'huge', namespace: 'huge' })).status?.replicas ?? 0;
  await expect.poll(replicas, POLL).toBe(20);
  expect((await hostile.send(`${path}/huge`, { method: 'DELETE', token: ADMIN_TOKEN })).code).toBe(200);
  expect(await hostile.send('/livez')).toMatchObject({ code: 200, body: 'ok' });
});
