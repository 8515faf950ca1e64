import { expect, it } from 'vitest';
import { core } from '#api';
import { realClock, seededRandom, silentLogger } from '#base';
import { openMemoryStore } from '#store';
import { startCluster } from '../start-cluster.ts';
import { ComponentHealth } from './component-health.ts';

it('component health follows starts and failures', async () => {
  await using store = openMemoryStore();
  const health = new ComponentHealth();
  const { scheduler: ask } = health.checks(store);
  await expect(ask?.()).rejects.toThrow('the scheduler is starting');
  health.report('scheduler', 'ready');
  expect(await ask?.()).toBe('ok');
  health.report('scheduler', 'failed', new Error('poison'));
  await expect(ask?.()).rejects.toThrow('the scheduler failed and will be started again: poison');
});

it('componentstatuses of a cluster in one process do not depend on health ports', async () => {
  await using store = openMemoryStore();
  await using cluster = startCluster({}, { store, clock: realClock, random: seededRandom(1), logger: silentLogger });
  await cluster.ready;
  const { items } = await cluster.client.of(core.ComponentStatus).list();
  expect(items.map(({ metadata, conditions }) => [metadata.name, conditions?.[0]?.status, conditions?.[0]?.message])).toEqual([
    ['controller-manager', 'True', 'ok'],
    ['etcd-0', 'True', 'ok'],
    ['scheduler', 'True', 'ok'],
  ]);
});
