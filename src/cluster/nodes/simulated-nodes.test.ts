import { expect, it } from 'vitest';
import { core, rbac } from '#api';
import { realClock, seededRandom, silentLogger } from '#base';
import { openMemoryStore } from '#store';
import { type Cluster, startCluster } from '../start-cluster.ts';
import { simulatedNodes } from './node-specification.ts';

const WATCHER = { name: 'system:sampan:node-watcher', groups: ['system:authenticated'] };

async function withCluster(nodes: readonly string[], use: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using store = openMemoryStore();
  await using cluster = startCluster(
    { nodes: simulatedNodes(nodes) },
    { store, clock: realClock, random: seededRandom('nodes'), logger: silentLogger },
  );
  await cluster.ready;
  await use(cluster);
}

it('the shared watcher of simulated nodes may read pods and nodes, and nothing else', () =>
  withCluster(['a'], async (cluster) => {
    const watcher = cluster.clientAs(WATCHER);
    expect((await watcher.of(core.Node).list()).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect((await watcher.of(core.Pod).list()).items).toEqual([]);
    for (const denied of [
      () => watcher.of(core.Secret).list(),
      () => watcher.of(core.ConfigMap).list(),
      () => watcher.of(core.Node).get({ name: 'a' }),
      () => watcher.of(core.Node).delete({ name: 'a' }),
      () =>
        watcher.of(core.Pod).create({ metadata: { name: 'p', namespace: 'default' }, spec: { containers: [{ name: 'c', image: 'i' }] } }),
    ])
      await expect(denied()).rejects.toMatchObject({ reason: 'Forbidden' });
  }));

it('a cluster without simulated nodes has no watcher role until the first one is added', () =>
  withCluster([], async (cluster) => {
    const roles = async () => (await cluster.client.of(rbac.ClusterRole).list()).items.map(({ metadata }) => metadata.name);
    expect(await roles()).not.toContain(WATCHER.name);
    await cluster.nodes.add('late');
    expect(await roles()).toContain(WATCHER.name);
    expect((await cluster.client.of(core.Node).list()).items).toHaveLength(1);
  }));
