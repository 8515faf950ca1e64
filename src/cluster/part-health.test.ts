import { expect, it } from 'vitest';
import { core } from '#api';
import { realClock, runComponent, seededRandom, silentLogger, whenAborted } from '#base';
import { openMemoryStore } from '#store';
import { PartHealth } from './part-health.ts';
import { startCluster } from './start-cluster.ts';

it('follows a part from its start to its end', async () => {
  await using store = openMemoryStore();
  const health = new PartHealth();
  const { scheduler: ask } = health.checks(store);
  await expect(ask?.()).rejects.toThrow('the scheduler is starting');
  const part = runComponent(undefined, async ({ signal, ready }) => {
    ready();
    await whenAborted(signal);
  });
  health.add('scheduler', part);
  await part.ready;
  expect(await ask?.()).toBe('ok');
  await part[Symbol.asyncDispose]();
  await expect(ask?.()).rejects.toThrow('the scheduler has ended');
});

it('is what a cluster in one process tells of its components, whatever listens elsewhere', async () => {
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
