import { expect, it } from 'vitest';
import { core } from '#api';
import { realClock, seededRandom, silentLogger } from '#base';
import { openMemoryStore } from '#store';
import { simulatedNodes } from './nodes/node-specification.ts';
import { type ClusterConfig, startCluster } from './start-cluster.ts';
import { waitForReady } from './wait-for-ready.ts';

const deps = () => ({ clock: realClock, random: seededRandom('usable'), logger: silentLogger });
/** A node without a kubelet never becomes ready. */
const STUCK: ClusterConfig = { nodes: simulatedNodes(['a']), kubelet: { registerNode: false } };

it('waitForReady waits for nodes and the default service account', async () => {
  await using store = openMemoryStore();
  const config = { nodes: simulatedNodes(['a']) };
  await using cluster = startCluster(config, { ...deps(), store });
  await waitForReady(cluster, config, deps());
});

it('waitForReady gives up after its timeout, and says why', async () => {
  await using store = openMemoryStore();
  await using cluster = startCluster(STUCK, { ...deps(), store });
  await expect(waitForReady(cluster, { ...STUCK, waitMs: 600 }, deps())).rejects.toThrow(/^the cluster is not ready after 0.6 s: /);
});

it('waitForReady names the reason that an unready node reports', async () => {
  await using store = openMemoryStore();
  await using cluster = startCluster({ nodes: [] }, { ...deps(), store });
  await waitForReady(cluster, { nodes: [] }, deps());
  const nodes = cluster.client.of(core.Node);
  const message = 'container runtime network not ready: cni plugin not initialized';
  const status = { conditions: [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message }] };
  await nodes.create({ metadata: { name: 'a' } });
  await nodes.patch({ name: 'a' }, { status }, { type: 'merge', subresource: 'status' });
  await expect(waitForReady(cluster, { nodes: simulatedNodes(['a']), waitMs: 600 }, deps())).rejects.toThrow(
    `the cluster is not ready after 0.6 s: 1 of 1 nodes are not Ready, a among them: ${message}`,
  );
});

it('waitForReady without a timeout waits for the server only', async () => {
  await using store = openMemoryStore();
  await using cluster = startCluster(STUCK, { ...deps(), store });
  await waitForReady(cluster, { ...STUCK, waitMs: 0 }, deps());
  await cluster.apiServer.ready;
});

it('waitForReady ends when the cluster is stopped', async () => {
  await using store = openMemoryStore();
  const stop = new AbortController();
  await using cluster = startCluster(STUCK, { ...deps(), store }, stop.signal);
  const waiting = waitForReady(cluster, STUCK, deps());
  await cluster.apiServer.ready;
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});
