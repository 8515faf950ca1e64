import { expect, onTestFinished, test } from 'vitest';
import { type apps, core } from '#api';
import { ADMIN_TOKEN, startHostileCluster } from './hostile-cluster.ts';

const POLL = { timeout: 60_000 };
const SETS = '/apis/apps/v1/namespaces/default/statefulsets';

function statefulSet(name: string, spec: Partial<apps.StatefulSetSpec>): object {
  // Never scheduled: the test is about the controller.
  const template = { metadata: { labels: { app: name } }, spec: { schedulerName: 'none', containers: [{ name: 'c', image: 'busybox' }] } };
  return { metadata: { name }, spec: { serviceName: 's', selector: { matchLabels: { app: name } }, template, ...spec } };
}

function claimTemplate(_: unknown, index: number): object {
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } };
  return { metadata: { name: `v${index}` }, spec };
}

test('a deleted stateful set of two billion replicas gets no more claims, and the next set its pod', async () => {
  const hostile = await startHostileCluster({
    nodes: [],
    controllerManager: { options: { concurrentStatefulSetSyncs: 1 } },
  });
  onTestFinished(() => hostile[Symbol.asyncDispose]());
  const create = async (object: object) =>
    expect((await hostile.send(SETS, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) })).code).toBe(201);
  const volumeClaimTemplates = Array.from({ length: 50 }, claimTemplate) as core.PersistentVolumeClaim[];
  await create(statefulSet('huge', { replicas: 2147483647, podManagementPolicy: 'Parallel', volumeClaimTemplates }));
  const claims = async () => (await hostile.cluster.client.of(core.PersistentVolumeClaim).list({ namespace: 'default' })).items.length;
  await expect.poll(claims, POLL).toBeGreaterThan(100);
  expect((await hostile.send(`${SETS}/huge`, { method: 'DELETE', token: ADMIN_TOKEN })).code).toBe(200);
  const before = await claims();
  await create(statefulSet('next', { replicas: 1 }));
  const pods = hostile.cluster.client.of(core.Pod);
  const next = async () => (await pods.list({ namespace: 'default' })).items.some(({ metadata }) => metadata.name === 'next-0');
  await expect.poll(next, POLL).toBe(true);
  expect(await claims()).toBeLessThan(before + 1000);
});
