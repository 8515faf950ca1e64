import { afterAll, beforeAll, expect, it } from 'vitest';
import { coordination } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { formatMicroTime } from '#machinery';
import { openMemoryStore } from '#store';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { type ApiServer, startApiServer } from '../server.ts';
import { IdentityLease, serverId } from './identity-lease.ts';

const random = seededRandom('identity');
const store = openMemoryStore({ clock: realClock });
let server: ApiServer;
let client: Client;

beforeAll(async () => {
  const deps = { store, clock: realClock, random, logger: silentLogger, metrics: new MetricsRegistry() };
  server = startApiServer({ version: { gitVersion: 'v1.36.0' }, anonymousAuth: false, hostname: 'first' }, deps);
  await server.ready;
  const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  client = new Client(inProcessTransport(server.handle, admin, { clock: realClock }));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await store.close();
});

const leaseNames = async () =>
  (
    await client.of(coordination.Lease).list({ namespace: 'kube-system', labelSelector: 'apiserver.kubernetes.io/identity=kube-apiserver' })
  ).items
    .map(({ metadata }) => metadata.name)
    .sort();

const other = () => new IdentityLease('second', { client, clock: realClock, random, logger: silentLogger });

it('the identity of a server follows from its host, as upstream computes it', () => {
  expect(serverId('first')).toBe('apiserver-tu5knrgyaxadxoyqlgxn3n56hq');
  expect(serverId('first')).not.toBe(serverId('second'));
});

it('a server keeps a lease that names its host', async () => {
  const lease = await client.of(coordination.Lease).get({ namespace: 'kube-system', name: serverId('first') });
  expect(lease).toMatchObject({
    metadata: { labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': 'first' } },
    spec: { leaseDurationSeconds: 3600, holderIdentity: expect.stringMatching(`^${serverId('first')}_`) },
  });
});

it('an identity lease that was deleted is created again, and removed when the server stops', async () => {
  const lease = other();
  await lease.start();
  await client.of(coordination.Lease).delete({ namespace: 'kube-system', name: serverId('second') });
  await lease.renew();
  expect(await leaseNames()).toEqual([serverId('first'), serverId('second')].sort());
  await lease.end();
  expect(await leaseNames()).toEqual([serverId('first')]);
});

it('expired leases of servers are removed', async () => {
  const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
  const renewTime = formatMicroTime(realClock.now() - 7_200_000);
  await client.of(coordination.Lease).create({
    metadata: { name: 'apiserver-gone', namespace: 'kube-system', labels },
    spec: { holderIdentity: 'gone', leaseDurationSeconds: 3600, renewTime },
  });
  await other().removeExpired();
  expect(await leaseNames()).toEqual([serverId('first')]);
});
