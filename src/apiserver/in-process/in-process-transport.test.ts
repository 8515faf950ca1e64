import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client, InformerFactory } from '#client';
import { isStatusReason } from '#machinery';
import { openMemoryStore } from '#store';
import { startApiServer } from '../server.ts';
import { inProcessTransport } from './in-process-transport.ts';

function serve() {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const logger = silentLogger;
  const paths: string[] = [];
  const server = startApiServer(
    { version: { major: '1', minor: '36' }, anonymousAuth: false, systemObjects: false },
    {
      store: openMemoryStore({ clock }),
      clock,
      random,
      logger,
      metrics: new MetricsRegistry(),
      catalog: { groups: [] },
      authenticators: [],
      authorizer: {
        authorize: ({ user, verb, resource }) => {
          paths.push(`${user.name} ${verb} ${resource}`);
          return { verdict: resource === 'secrets' ? 'deny' : 'allow', reason: '' };
        },
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
      admission: [],
    },
  );
  const transport = inProcessTransport(server.handle, { name: 'tester', groups: [] }, { clock });
  const client = new Client(transport, { fieldManager: 'test' });
  return { clock, server, client, paths, informers: new InformerFactory(client, { clock, random, logger }) };
}

const named = (name: string, data: Record<string, string> = {}) => ({ metadata: { name, namespace: 'default' }, data });

describe('the in-process transport', () => {
  it('answers typed objects, and asks the authorizer as the network would', async () => {
    const { client, paths } = serve();
    const maps = client.of(core.ConfigMap);
    const created = await maps.create(named('a', { x: '1' }));
    expect(created).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', resourceVersion: expect.any(String) } });
    const updated = await maps.update({ ...created, data: { x: '2' } });
    expect((await maps.get(created.metadata)).data).toEqual({ x: '2' });
    await expect(maps.update({ ...created, data: { x: '3' } })).rejects.toSatisfy((error) => isStatusReason(error, 'Conflict'));
    const patched = await maps.patch(updated.metadata, { data: { y: '1' } });
    expect(patched.data).toEqual({ x: '2', y: '1' });
    const applied = await maps.apply({ ...named('b', { z: '1' }) }, { fieldManager: 'applier' });
    expect(applied.metadata.managedFields?.[0]).toMatchObject({ manager: 'applier', operation: 'Apply' });
    expect((await maps.list({ namespace: 'default' })).items.map((map) => map.metadata.name)).toEqual(['a', 'b']);
    await maps.delete(created.metadata, { preconditions: { uid: created.metadata.uid! } });
    await expect(maps.get(created.metadata)).rejects.toSatisfy((error) => isStatusReason(error, 'NotFound'));
    await maps.deleteCollection({ namespace: 'default' });
    expect((await maps.list()).items).toEqual([]);
    await expect(client.of(core.Secret).list()).rejects.toSatisfy((error) => isStatusReason(error, 'Forbidden'));
    expect(new Set(paths)).toContain('tester deletecollection configmaps');
  });

  it('hands out the very objects that the server keeps', async () => {
    const { client } = serve();
    const maps = client.of(core.ConfigMap);
    await maps.create(named('a'));
    const [listed] = (await maps.list()).items;
    expect(listed).toBe(await maps.get({ name: 'a', namespace: 'default' }));
  });

  it('takes members that are undefined as absent, as JSON would', async () => {
    const { client } = serve();
    const created = await client.of(core.ConfigMap).create({ ...named('a'), binaryData: undefined, immutable: undefined } as never);
    expect(JSON.parse(JSON.stringify(created))).toEqual(created);
    expect(Object.hasOwn(created, 'immutable')).toBe(false);
  });

  it('passes warnings on', async () => {
    const { client } = serve();
    const warnings: string[] = [];
    const unknown = { ...named('a'), nonsense: 1 } as never;
    await client.of(core.ConfigMap).create(unknown, { onWarning: (text) => warnings.push(text) });
    expect(warnings).toEqual(['unknown field "nonsense"']);
  });

  it('closes its watches when it is closed', async () => {
    const { client } = serve();
    const seen: string[] = [];
    const sink = { event: () => seen.push('event'), bookmark() {}, error: () => seen.push('error'), end: () => seen.push('end') };
    client.of(core.ConfigMap).watchInto({}, sink);
    await client.of(core.ConfigMap).create(named('a'));
    await client.transport[Symbol.asyncDispose]();
    expect(seen).toEqual(['event']);
    await expect(client.of(core.ConfigMap).list()).rejects.toThrow('the transport was closed');
  });

  it('pages through long lists', async () => {
    const { client } = serve();
    const maps = client.of(core.ConfigMap);
    for (let i = 0; i < 7; i++) await maps.create(named(`m${i}`));
    expect((await maps.listAll({ limit: 3 })).items.map((map) => map.metadata.name)).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6']);
  });

  it('watches until the loop is left', async () => {
    const { client } = serve();
    const maps = client.of(core.ConfigMap);
    await maps.create(named('a'));
    const seen: string[] = [];
    for await (const event of maps.watch({ namespace: 'default' })) {
      if (event.type === 'BOOKMARK') continue;
      seen.push(`${event.type} ${event.object.metadata.name}`);
      if (seen.length === 1) await maps.patch(event.object.metadata, { data: { a: 'b' } });
      if (seen.length === 2) await maps.delete(event.object.metadata);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  it('says which watches it cannot open', async () => {
    const { client } = serve();
    const watch = client.of(core.Secret).watch()[Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toSatisfy((error) => isStatusReason(error, 'Forbidden'));
  });
});

describe('an informer', () => {
  it('shows the state, tells many listeners of changes, and finds by index', async () => {
    const { client, informers, clock, server } = serve();
    await server.ready;
    const stop = new AbortController();
    const maps = client.of(core.ConfigMap);
    await maps.create(named('a', { owner: 'x' }));
    const timers = clock.pendingTimers;
    const informer = informers.of(core.ConfigMap).addIndex('owner', (map) => (map.data?.owner ? [map.data.owner] : []));
    expect(informers.of(core.ConfigMap)).toBe(informer);
    const events: string[] = [];
    informer.addHandler({
      add: (map, initial) => events.push(`add ${map.metadata.name} ${initial}`),
      update: (before, after) => events.push(`update ${before.data?.owner} to ${after.data?.owner}`),
      delete: (map) => events.push(`delete ${map.metadata.name}`),
    });
    informers.start(stop.signal);
    await informers.synced();
    await clock.settle();
    const b = await maps.create(named('b', { owner: 'x' }));
    expect(informer.lister.byIndex('owner', 'x').map((map) => map.metadata.name)).toEqual(['a', 'b']);
    await maps.update({ ...b, data: { owner: 'y' } });
    expect(informer.lister.byIndex('owner', 'x').map((map) => map.metadata.name)).toEqual(['a']);
    expect(informer.lister.get(b.metadata)).toBe(await maps.get(b.metadata));
    const late: string[] = [];
    informer.addHandler({ add: (map) => late.push(map.metadata.name) });
    await maps.delete(b.metadata);
    expect(events).toEqual(['add a true', 'add b false', 'update x to y', 'delete b']);
    expect(late).toEqual(['a', 'b']);
    expect(informer.lister.list('default')).toHaveLength(1);
    expect(informer.lister.list('other')).toEqual([]);
    stop.abort();
    await informers.stop();
    expect(clock.pendingTimers).toBe(timers);
  });
});
