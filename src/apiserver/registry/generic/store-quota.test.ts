import { expect, test } from 'vitest';
import { core } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { inProcessTransport } from '../../in-process/in-process-transport.ts';
import { startApiServer } from '../../server.ts';

const random = seededRandom('quota');
const KIB = 'x'.repeat(1024);
const mapOf = (name: string, kibibytes: number) => ({ metadata: { name, namespace: 'default' }, data: { text: KIB.repeat(kibibytes) } });

async function start(quotaBytes: number) {
  const store = openMemoryStore({ clock: realClock });
  const server = startApiServer(
    { version: {}, anonymousAuth: false, systemObjects: false, quotaBytes },
    { store, clock: realClock, random, logger: silentLogger, metrics: new MetricsRegistry(), admission: [] },
  );
  await server.ready;
  const client = new Client(inProcessTransport(server.handle, { name: 'admin', groups: [] }, { clock: realClock }));
  return {
    maps: client.of(core.ConfigMap),
    readyz: () => client.transport.text({ method: 'GET', path: '/readyz' }).catch((error: Error) => error.message),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

test('a full database refuses writes as upstream does, and lets objects be read, finalized and deleted until there is room', async () => {
  await using at = await start(30 * 1024 * 1024);
  await at.maps.create({ metadata: { name: 'held', namespace: 'default', finalizers: ['example.com/hold'] } });
  let refused: unknown;
  let count = 0;
  for (; count < 60 && refused === undefined; count++) {
    await at.maps.create(mapOf(`m-${count}`, 1000)).catch((error: unknown) => {
      refused = error;
      count--;
    });
  }
  expect(refused).toMatchObject({ code: 500, reason: '', message: 'etcdserver: mvcc: database space exceeded' });
  expect([count > 20, count < 60]).toEqual([true, true]);
  expect(await at.readyz()).toContain('[-]database-quota failed');
  await expect(at.maps.create(mapOf('small', 0))).rejects.toThrow('database space exceeded');
  expect((await at.maps.get({ name: 'm-0', namespace: 'default' })).data?.text).toHaveLength(1000 * 1024);
  // A deletion that is an update, and the update that completes it.
  await at.maps.delete({ name: 'held', namespace: 'default' });
  const map = await at.maps.get({ name: 'held', namespace: 'default' });
  await at.maps.update({ ...map, metadata: { ...map.metadata, finalizers: [] } });
  for (let i = 0; i < count; i++) await at.maps.delete({ name: `m-${i}`, namespace: 'default' });
  await expect.poll(at.readyz, { timeout: 15_000, interval: 500 }).toBe('ok');
  await at.maps.create(mapOf('again', 1));
});
