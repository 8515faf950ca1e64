import { expect, test } from 'vitest';
import { apps, core } from '#api';
import { startCluster } from './index.ts';

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
`;

test('a deployment runs in a cluster on virtual time', async () => {
  await using cluster = await startCluster({ nodes: 3, clock: 'virtual' });
  await cluster.apply(DEPLOYMENT);
  const key = { namespace: 'default', name: 'web' };
  const web = await cluster.waitFor(async () => {
    const deployment = await cluster.client.of(apps.Deployment).get(key);
    return deployment.status?.availableReplicas === 3 && deployment;
  });
  expect(web.status?.readyReplicas).toBe(3);
  const { items } = await cluster.client.of(core.Pod).list({ namespace: 'default' });
  expect(items.map((pod) => pod.status?.phase)).toEqual(['Running', 'Running', 'Running']);
});

// That no timer of the container is left is checked after every test file.
test('a cluster stops although its containers have long to run', async () => {
  await using cluster = await startCluster({ clock: 'real' });
  await cluster.apply(`
apiVersion: v1
kind: Pod
metadata: { name: sleeper }
spec: { containers: [{ name: main, image: busybox, command: [sleep, '1000'] }] }
`);
  const phase = async () => (await cluster.client.of(core.Pod).get({ namespace: 'default', name: 'sleeper' })).status?.phase;
  await cluster.waitFor(async () => (await phase()) === 'Running');
  expect(await phase()).toBe('Running');
});
