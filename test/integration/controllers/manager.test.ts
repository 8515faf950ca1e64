import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { coordination, core, rbac } from '#api';
import { inProcessTransport, startApiServer } from '#apiserver';
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import { startControllerManager } from '#controllers';
import { openMemoryStore } from '#store';
import { startControlPlane } from '../control-plane.ts';

describe('the controller manager', () => {
  it('refuses controllers that it does not know', () => {
    const client = {} as Client;
    const deps = { client, clock: new VirtualClock(), random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() };
    expect(() => startControllerManager({ controllers: ['*', '-nope'] }, deps)).toThrow('"nope" is not in the list of known controllers');
  });

  it('lets one of two lead, and the other go on when the first is gone', async () => {
    const clock = new VirtualClock();
    const random = seededRandom(1);
    const store = openMemoryStore({ clock });
    const base = { clock, random, logger: silentLogger };
    const server = startApiServer({ version: {}, anonymousAuth: false }, { ...base, store, metrics: new MetricsRegistry() });
    await server.ready;
    const admin = { name: 'admin', groups: ['system:masters'] };
    const client = new Client(inProcessTransport(server.handle, admin, { clock }));
    const start = (identity: string) => {
      const leaderElection = { lease: { name: 'kube-controller-manager', namespace: 'kube-system' }, identity };
      const metrics = new MetricsRegistry();
      const manager = startControllerManager({ controllers: ['serviceaccount-controller'], leaderElection }, { ...base, client, metrics });
      const runs = () =>
        metrics.text().includes('running_managed_controllers{manager="kube-controller-manager",name="serviceaccount-controller"} 1');
      return { manager, runs };
    };
    const first = start('first');
    await clock.advance(1000);
    const second = start('second');
    await clock.advance(30_000);
    expect([first.runs(), second.runs()]).toEqual([true, false]);
    await first.manager[Symbol.asyncDispose]();
    await clock.advance(20_000);
    expect([first.runs(), second.runs()]).toEqual([false, true]);
    const lease = await client.of(coordination.Lease).get({ name: 'kube-controller-manager', namespace: 'kube-system' });
    expect(lease.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    const { items } = await client.of(core.Event).list({ namespace: 'kube-system' });
    expect(items.map(({ message }) => message)).toEqual(expect.arrayContaining(['first became leader', 'second became leader']));
    await client.of(core.Namespace).create({ metadata: { name: 'n' } });
    await clock.advance(1000);
    expect((await client.of(core.ServiceAccount).get({ name: 'default', namespace: 'n' })).metadata.name).toBe('default');
    await second.manager[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await store.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('roles made of others', () => {
  it('have the rules of those, as they come and go', async () => {
    await using plane = await startControlPlane({ controllers: ['clusterrole-aggregation-controller'] });
    const roles = plane.client.of(rbac.ClusterRole);
    const rule = (resource: string) => ({ apiGroups: ['example.com'], resources: [resource], verbs: ['get'] });
    const labels = { 'example.com/to': 'all' };
    await roles.create({ metadata: { name: 'all' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] }, rules: [] });
    await roles.create({ metadata: { name: 'b', labels }, rules: [rule('boats')] });
    await roles.create({ metadata: { name: 'a', labels }, rules: [rule('anchors'), rule('boats')] });
    await plane.clock.advance(1000);
    const all = await roles.get({ name: 'all' });
    expect(all.rules).toEqual([rule('anchors'), rule('boats')]);
    expect(all.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).toContain(
      'clusterrole-aggregation-controller Apply',
    );
    await roles.delete({ name: 'a' });
    await plane.clock.advance(1000);
    expect((await roles.get({ name: 'all' })).rules).toEqual([rule('boats')]);
  });

  it('are written once each at the start, though they are made of one another', async () => {
    const clock = new VirtualClock();
    const [random, logger, metrics] = [seededRandom(1), silentLogger, new MetricsRegistry()];
    const deps = { clock, random, logger, metrics };
    await using server = startApiServer({ version: {}, anonymousAuth: false }, { ...deps, store: openMemoryStore({ clock }) });
    await server.ready;
    const admin = { name: 'admin', groups: ['system:masters'] };
    const client = new Client(inProcessTransport(server.handle, admin, { clock }));
    await using _manager = startControllerManager({ controllers: ['clusterrole-aggregation-controller'] }, { ...deps, client });
    await clock.advance(1000);
    const view = await client.of(rbac.ClusterRole).get({ name: 'view' });
    const edit = await client.of(rbac.ClusterRole).get({ name: 'edit' });
    expect(view.rules).not.toEqual([]);
    expect(edit.rules).toEqual(expect.arrayContaining([...(view.rules ?? [])]));
    const updates = /^etcd_requests_total\{operation="update",.*resource="clusterroles"\} (\d+)$/m;
    expect(updates.exec(metrics.text())?.[1]).toBe('3');
  });
});

describe('secrets for tokens of service accounts', () => {
  it('are filled, and go with their account', async () => {
    const serviceAccountPrivateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();
    await using plane = await startControlPlane({
      controllers: ['serviceaccount-token-controller'],
      options: { serviceAccountPrivateKey, rootCa: 'CA' },
    });
    const { client, clock } = plane;
    await client.of(core.ServiceAccount).create({ metadata: { name: 'robot', namespace: 'default' }, secrets: [{ name: 'token' }] });
    const annotations = { 'kubernetes.io/service-account.name': 'robot' };
    const secret = { metadata: { name: 'token', namespace: 'default', annotations }, type: 'kubernetes.io/service-account-token' };
    const secrets = client.of(core.Secret);
    await secrets.create(secret);
    await clock.advance(1000);
    const filled = await secrets.get(secret.metadata);
    expect(Object.keys(filled.data ?? {}).sort()).toEqual(['ca.crt', 'namespace', 'token']);
    await secrets.delete(secret.metadata);
    await clock.advance(1000);
    expect((await client.of(core.ServiceAccount).get({ name: 'robot', namespace: 'default' })).secrets ?? []).toEqual([]);
    await secrets.create(secret);
    await clock.advance(1000);
    await client.of(core.ServiceAccount).delete({ name: 'robot', namespace: 'default' });
    await clock.advance(1000);
    expect((await secrets.list({ namespace: 'default' })).items).toEqual([]);
  });
});

describe('ranges for the pods of nodes', () => {
  it('go to a node that waits for one when another node leaves', async () => {
    const options = { clusterCidrs: ['10.244.0.0/23'] };
    await using plane = await startControlPlane({ controllers: ['node-ipam-controller'], options });
    const nodes = plane.client.of(core.Node);
    for (const name of ['a', 'b', 'c']) await nodes.create({ metadata: { name } });
    await plane.clock.advance(60_000);
    const ranges = async () =>
      Object.fromEntries((await nodes.list()).items.map(({ metadata, spec }) => [metadata.name, spec?.podCIDR ?? 'none']));
    expect(Object.values(await ranges()).sort()).toEqual(['10.244.0.0/24', '10.244.1.0/24', 'none']);
    const [lucky] = Object.entries(await ranges()).find(([, range]) => range === '10.244.0.0/24') as [string, string];
    await nodes.delete({ name: lucky });
    await plane.clock.advance(1000);
    expect(Object.values(await ranges()).sort()).toEqual(['10.244.0.0/24', '10.244.1.0/24']);
    const { items } = await plane.client.of(core.Event).list({ namespace: 'default' });
    expect(items.filter(({ reason }) => reason === 'CIDRNotAvailable')).toHaveLength(1);
  });

  it('are not given out with allocateNodeCidrs turned off', async () => {
    const options = { clusterCidrs: ['10.244.0.0/23'], allocateNodeCidrs: false };
    await using plane = await startControlPlane({ controllers: ['node-ipam-controller'], options });
    await plane.client.of(core.Node).create({ metadata: { name: 'a' } });
    await plane.clock.advance(60_000);
    expect((await plane.client.of(core.Node).get({ name: 'a' })).spec?.podCIDR).toBeUndefined();
  });
});
