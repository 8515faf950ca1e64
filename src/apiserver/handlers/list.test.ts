import { expect, it } from 'vitest';
import { core } from '#api';
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import type { StatusError } from '#machinery';
import { openMemoryStore } from '#store';
import { configMap } from '../admission/admission-server.test-data.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { startApiServer } from '../server.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';

async function served() {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const store = openMemoryStore({ clock });
  const deps = { store, clock, random, logger: silentLogger, metrics: new MetricsRegistry() };
  const server = startApiServer({ version: {}, anonymousAuth: false, systemObjects: false }, deps);
  await server.ready;
  const admin = { name: 'admin', groups: ['system:masters'] };
  return { store, client: new Client(inProcessTransport(server.handle, admin, { clock })) };
}

it('an expired list has a token to continue inconsistently', async () => {
  const { client, store } = await served();
  await client.of(core.Namespace).create({ metadata: { name: 'default' } });
  for (const name of ['a', 'b', 'c']) await client.of(core.ConfigMap).create(configMap(name));
  await store.compact(await store.revision());
  const path = '/api/v1/namespaces/default/configmaps';
  const list = (token: string) =>
    client.transport.request({ method: 'GET', path, query: new URLSearchParams({ continue: token, limit: '5' }) });
  const forgotten = encodeContinue({ revision: 1, start: 'a\0' });
  const refusal = (await list(forgotten).catch((error: unknown) => error)) as StatusError;
  expect(refusal).toMatchObject({ code: 410, reason: 'Expired' });
  const next = refusal.status.metadata.continue ?? '';
  expect(decodeContinue(next)).toEqual({ revision: -1, start: 'a\0' });
  expect(await list(next)).toMatchObject({ items: [{ metadata: { name: 'b' } }, { metadata: { name: 'c' } }] });
});
