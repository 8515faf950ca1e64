import { afterAll, beforeAll, expect, it } from 'vitest';
import { core, discovery } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { type ApiServer, startApiServer } from '../server.ts';
import { ServerLeases } from './server-leases.ts';

const random = seededRandom('leases');
const store = openMemoryStore({ clock: realClock });
let server: ApiServer;
let client: Client;

beforeAll(async () => {
  const deps = { store, clock: realClock, random, logger: silentLogger, metrics: new MetricsRegistry() };
  server = startApiServer({ version: { gitVersion: 'v1.36.0' }, anonymousAuth: false }, deps);
  await server.ready;
  const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  client = new Client(inProcessTransport(server.handle, admin, { clock: realClock }));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.close();
});

function leasesOf(address: string): ServerLeases {
  return new ServerLeases({
    store,
    client,
    clock: realClock,
    logger: silentLogger,
    keyPrefix: '/registry',
    advertise: { address, port: 6443 },
  });
}

async function published(): Promise<{ endpoints: readonly string[]; slice: readonly string[] }> {
  const at = { namespace: 'default', name: 'kubernetes' };
  const { subsets } = await client.of(core.Endpoints).get(at);
  const { endpoints } = await client.of(discovery.EndpointSlice).get(at);
  return {
    endpoints: (subsets ?? []).flatMap(({ addresses }) => (addresses ?? []).map(({ ip }) => ip)),
    slice: (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
  };
}

it('servers that share a store are published together until they stop', async () => {
  const first = leasesOf('192.0.2.2');
  const second = leasesOf('192.0.2.1');
  await first.renew();
  expect(await published()).toEqual({ endpoints: ['192.0.2.2'], slice: ['192.0.2.2'] });
  await second.renew();
  await first.renew();
  expect(await published()).toEqual({ endpoints: ['192.0.2.1', '192.0.2.2'], slice: ['192.0.2.1', '192.0.2.2'] });
  await first.end();
  expect(await published()).toEqual({ endpoints: ['192.0.2.1'], slice: ['192.0.2.1'] });
  await second.end();
  expect(await published()).toEqual({ endpoints: ['192.0.2.1'], slice: ['192.0.2.1'] });
});
