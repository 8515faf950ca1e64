import { expect, it } from 'vitest';
import { batch, core, discovery, policy } from '#api';
import { startCluster } from '#testing';

const PODS = 110;

const MANIFEST = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: web, namespace: default }
spec: { maxUnavailable: 1, selector: { matchLabels: { app: web } } }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: pods, namespace: default }
spec: { hard: { pods: '1000' } }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: web, namespace: default }
spec:
  replicas: ${PODS}
  podManagementPolicy: Parallel
  serviceName: web
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: 'web:1' }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: many, namespace: default }
spec:
  completions: ${PODS}
  parallelism: ${PODS}
  template:
    spec: { restartPolicy: Never, containers: [{ name: main, image: 'job:1', command: [sh, -c, 'exit 0'] }] }
`;

it('controllers that debounce pod events count all pods in the end', async () => {
  await using cluster = await startCluster({ nodes: 4, clock: 'virtual' });
  const { client } = cluster;
  const at = { namespace: 'default', name: 'web' };
  await cluster.apply(MANIFEST);
  const ready = async () => {
    const { items } = await client.of(discovery.EndpointSlice).list({ namespace: 'default' });
    const own = items.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web');
    return own.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready).length;
  };
  await cluster.waitFor(async () => (await ready()) === PODS, { within: '30m', what: 'endpoints of all pods' });
  const isDone = async () => (await client.of(batch.Job).get({ namespace: 'default', name: 'many' })).status?.succeeded === PODS;
  await cluster.waitFor(isDone, { within: '30m', what: 'the job' });
  const isHealthy = async () => (await client.of(policy.PodDisruptionBudget).get(at)).status?.currentHealthy === PODS;
  await cluster.waitFor(isHealthy, { within: '5m', what: 'the budget' });
  // Terminated pods do not count.
  const used = async () => (await client.of(core.ResourceQuota).get({ namespace: 'default', name: 'pods' })).status?.used?.pods;
  await cluster.waitFor(async () => (await used()) === String(PODS), { within: '5m', what: 'the quota' });
  expect(await ready()).toBe(PODS);
});
