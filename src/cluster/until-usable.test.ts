import { expect, it } from 'vitest';
import { realClock, seededRandom, silentLogger } from '#base';
import { openMemoryStore } from '#store';
import { type ClusterConfig, startCluster } from './start-cluster.ts';
import { untilUsable } from './until-usable.ts';

const deps = () => ({ clock: realClock, random: seededRandom('usable'), logger: silentLogger });
/** A node that nobody makes never becomes ready. */
const STUCK: ClusterConfig = { nodes: ['a'], kubelet: { registerNode: false } };

it('waits for nodes and the default service account', async () => {
  await using store = openMemoryStore();
  const config = { nodes: ['a'] };
  await using cluster = startCluster(config, { ...deps(), store });
  await untilUsable(cluster, config, deps());
});

it('gives up when its time is over, and says why', async () => {
  await using store = openMemoryStore();
  await using cluster = startCluster(STUCK, { ...deps(), store });
  await expect(untilUsable(cluster, { ...STUCK, waitMs: 600 }, deps())).rejects.toThrow(/^the cluster is not ready after 0.6 s: /);
});

it('waits for the server alone when there is no time to wait', async () => {
  await using store = openMemoryStore();
  await using cluster = startCluster(STUCK, { ...deps(), store });
  await untilUsable(cluster, { ...STUCK, waitMs: 0 }, deps());
  await cluster.apiServer.ready;
});

it('ends when the cluster is stopped meanwhile', async () => {
  await using store = openMemoryStore();
  const stop = new AbortController();
  await using cluster = startCluster(STUCK, { ...deps(), store }, stop.signal);
  const waiting = untilUsable(cluster, STUCK, deps());
  await cluster.apiServer.ready;
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});
