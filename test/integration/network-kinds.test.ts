import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core, discovery, type Kind, networking } from '#api';
import { discover, type Identified, type ResourceClient } from '#client';
import { isStatusReason } from '#machinery';
import { startCluster, type TestCluster } from '#testing';

interface Lifecycle {
  readonly kind: Kind<Identified>;
  /** Absent: the kind is cluster-scoped. */
  readonly namespace?: string;
  readonly names?: readonly string[];
  /** The nth object without its metadata. */
  readonly body: (i: number) => object;
  /** The value to write to `/status`, if the kind has it. */
  readonly status?: object;
  /** As upstream: a write to the status changes no annotation. */
  readonly statusKeepsMetadata?: boolean;
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const condition = { type: 'Ready', status: 'False', reason: 'Set', message: 'by hand', lastTransitionTime: '2030-01-01T00:00:00Z' };
const backend = { service: { name: 'web', port: { number: 80 } } };
const LIFECYCLES: readonly Lifecycle[] = [
  {
    kind: discovery.EndpointSlice,
    namespace: 'one',
    body: (i: number) => ({ addressType: 'IPv4', endpoints: [{ addresses: [`10.0.0.${i}`] }], ports: [{ name: 'a', port: 80 }] }),
  },
  {
    kind: core.Endpoints,
    namespace: 'one',
    body: (i: number) => ({ subsets: [{ addresses: [{ ip: `10.0.0.${i + 1}` }], ports: [{ name: 'http', port: 80 }] }] }),
  },
  {
    kind: core.Service,
    namespace: 'one',
    body: () => ({ spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }),
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] }, conditions: [condition] },
  },
  {
    kind: networking.Ingress,
    namespace: 'one',
    body: (i: number) => ({ spec: { defaultBackend: backend, rules: [{ host: `h${i}.example.org` }] } }),
    status: { loadBalancer: { ingress: [{ ip: '169.1.1.1' }] } },
  },
  { kind: networking.IngressClass, body: (i: number) => ({ spec: { controller: `example.com/c${i}` } }) },
  {
    kind: networking.IPAddress,
    names: ['192.0.2.141', '192.0.2.142', '192.0.2.143'],
    body: () => ({ spec: { parentRef: { resource: 'services', namespace: 'one', name: 'web' } } }),
  },
  {
    kind: networking.ServiceCIDR,
    body: (i: number) => ({ spec: { cidrs: [`10.20${i}.0.0/24`] } }),
    status: { conditions: [condition] },
    statusKeepsMetadata: true,
  },
] as never;

/** The parts of upstream's [sig-network] conformance tests that only use the API. */
describe('the kinds of the network', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 0, controllers: [] });
    for (const name of ['one', 'two']) await cluster.client.of(core.Namespace).create({ metadata: { name } });
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  const cases = LIFECYCLES.map((lifecycle) => ({ ...lifecycle, name: lifecycle.kind.kind }));
  const namesOf = ({ names = ['first', 'second', 'third'] }: Lifecycle) => names;

  /** Types and names of the received events, once all of them have arrived. */
  async function events(
    objects: ResourceClient<Identified>,
    where: { namespace?: string | undefined; resourceVersion: string },
    count: number,
  ) {
    const seen: string[] = [];
    for await (const event of objects.watch({ ...where, labelSelector: 'test=network' }))
      if (event.type !== 'BOOKMARK' && seen.push(`${event.type} ${event.object.metadata.name}`) === count) break;
    return seen;
  }

  it.each(cases)('are discovered with every verb: $name', async ({ kind, status }) => {
    const { resources } = await discover(cluster.client.transport);
    const discovered = resources.find(({ group, version, resource }) => {
      return group === kind.group && version === kind.version && resource === kind.resource;
    });
    expect([...(discovered?.verbs ?? [])].sort()).toEqual(VERBS);
    expect(discovered?.subresources.includes('status')).toBe(status !== undefined);
  });

  it.each(cases)('are created, read, listed, watched, changed and deleted: $name', async (lifecycle) => {
    const { kind, namespace, body } = lifecycle;
    const objects = cluster.client.of(kind);
    const [first = '', second = '', third = ''] = namesOf(lifecycle);
    const key = (name: string) => ({ name, ...(namespace && { namespace }) });
    const labels = { test: 'network' };
    const before = (await objects.list({})).metadata.resourceVersion ?? '';
    const here = events(objects, { namespace, resourceVersion: before }, 8);
    const everywhere = events(objects, { resourceVersion: before }, 8);

    for (const [i, name] of [first, second, third].entries())
      await objects.create({ metadata: { ...key(name), labels }, ...body(i) } as never);
    await expect(objects.create({ metadata: key(first), ...body(0) } as never)).rejects.toMatchObject({ reason: 'AlreadyExists' });
    const object = await objects.get(key(first));
    expect(object).toMatchObject({ metadata: { ...key(first), labels }, ...body(0) });

    const listed = async (where: { namespace?: string | undefined }, labelSelector = 'test=network') =>
      (await objects.list({ ...where, labelSelector })).items.map(({ metadata }) => metadata.name);
    expect(await listed({ namespace })).toEqual([first, second, third]);
    expect(await listed({})).toEqual([first, second, third]);
    if (namespace) expect(await listed({ namespace: 'two' })).toEqual([]);

    const annotate = (type: string) => ({ metadata: { annotations: { [type]: 'yes' } } });
    const annotationsOf = async (change: Promise<Identified>) => Object.keys((await change).metadata.annotations ?? {}).sort();
    expect(await annotationsOf(objects.patch(key(first), annotate('merge'), { type: 'merge' }))).toEqual(['merge']);
    expect(await annotationsOf(objects.patch(key(first), annotate('strategic'), { type: 'strategic' }))).toEqual(['merge', 'strategic']);
    const operation = [{ op: 'add', path: '/metadata/annotations/json', value: 'yes' }];
    expect(await annotationsOf(objects.patch(key(first), operation, { type: 'json' }))).toEqual(['json', 'merge', 'strategic']);
    const applied = objects.apply({ ...annotate('apply'), metadata: { ...key(first), ...annotate('apply').metadata } } as never, {
      fieldManager: 'test',
    });
    expect(await annotationsOf(applied)).toEqual(['apply', 'json', 'merge', 'strategic']);

    const current = await objects.get(key(first));
    await objects.update({ ...current, metadata: { ...current.metadata, annotations: { updated: 'yes' } } });
    expect((await objects.get(key(first))).metadata.annotations).toEqual({ updated: 'yes' });
    await expect(objects.update({ ...current, metadata: { ...current.metadata, annotations: {} } })).rejects.toMatchObject({
      reason: 'Conflict',
    });

    const changes = [...Array.from({ length: 5 }, () => `MODIFIED ${first}`)];
    const expectedEvents = [first, second, third].map((name) => `ADDED ${name}`).concat(changes);
    expect(await here).toEqual(expectedEvents);
    expect(await everywhere).toEqual(expectedEvents);

    const last = (await objects.get(key(first))).metadata.resourceVersion ?? '';
    const ending = events(objects, { namespace, resourceVersion: last }, 3);
    await objects.delete(key(first));
    const isGone = await objects.get(key(first)).then(
      () => false,
      (error: unknown) => isStatusReason(error, 'NotFound'),
    );
    expect(isGone).toBe(true);
    expect(await listed({ namespace })).toEqual([second, third]);
    await objects.deleteCollection({ ...(namespace && { namespace }), labelSelector: 'test=network' });
    expect(await listed({})).toEqual([]);
    expect(await ending).toEqual([first, second, third].map((name) => `DELETED ${name}`));
  });

  it.each(cases.filter(({ status }) => status !== undefined))(
    'have a status that is read, patched and updated alone: $name',
    async (lifecycle) => {
      const { kind, namespace, body, status, statusKeepsMetadata } = lifecycle;
      const objects = cluster.client.of(kind);
      const key = { name: 'with-status', ...(namespace && { namespace }) };
      const object = await objects.create({ metadata: key, ...body(7) } as never);
      const ofStatus = objects.subresource<Identified & { status?: object }>('status');
      expect((await ofStatus.get(key)).metadata.uid).toBe(object.metadata.uid);
      const patch = { metadata: { annotations: { patched: 'yes' } }, status };
      const patched = await ofStatus.patch(key, patch, { type: 'merge' });
      expect(patched).toMatchObject({ status });
      expect(patched.metadata.annotations).toEqual(statusKeepsMetadata ? undefined : { patched: 'yes' });
      const updated = await objects.updateStatus({ ...patched, spec: { changed: true }, status: {} } as never);
      expect(updated).toMatchObject(body(7));
      expect((updated as { status?: object }).status).not.toMatchObject(status!);
      await objects.patch(key, { metadata: { labels: { later: 'yes' } }, status });
      const after = (await ofStatus.get(key)) as { status?: object; metadata: { labels?: object } };
      expect(after.metadata.labels).toEqual({ later: 'yes' });
      expect(after.status).not.toMatchObject(status!);
    },
  );

  it('of all namespaces include the service of the API server', async () => {
    const { items } = await cluster.client.of(core.Service).list({});
    expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toContain('default/kubernetes');
  });

  it('are deleted by label, and others stay: three services, of which one has another label', async () => {
    const services = cluster.client.of(core.Service);
    for (const [name, kept] of [
      ['a', 'no'],
      ['b', 'no'],
      ['c', 'yes'],
    ])
      await services.create({
        metadata: { name: name!, namespace: 'two', labels: { kept: kept! } },
        spec: { ports: [{ port: 80 }] },
      } as never);
    await services.deleteCollection({ namespace: 'two', labelSelector: 'kept=no' });
    expect((await services.list({ namespace: 'two' })).items.map(({ metadata }) => metadata.name)).toEqual(['c']);
  });
});

it('each of 100 new services gets its endpoints within seconds', async () => {
  await using cluster = await startCluster({ nodes: 1 });
  const { client } = cluster;
  await expect.poll(async () => (await client.of(core.ServiceAccount).list({ namespace: 'default' })).items.length).toBeGreaterThan(0);
  await client.of(core.Pod).create({
    metadata: { name: 'pause', namespace: 'default', labels: { app: 'pause' } },
    spec: { containers: [{ name: 'pause', image: 'pause' }] },
  } as never);
  const phase = async () => (await client.of(core.Pod).get({ name: 'pause', namespace: 'default' })).status?.phase;
  await expect.poll(phase).toBe('Running');
  for (let i = 0; i < 100; i++)
    await client.of(core.Service).create({
      metadata: { name: `s${i}`, namespace: 'default', labels: { test: 'latency' } },
      spec: { selector: { app: 'pause' }, ports: [{ port: 80 }] },
    } as never);
  const served = async () => {
    const { items } = await client.of(core.Endpoints).list({ namespace: 'default', labelSelector: 'test=latency' });
    return items.filter(({ subsets }) => subsets?.[0]?.addresses?.length === 1).length;
  };
  // Upstream allows 20 seconds for half as many.
  await expect.poll(served, { timeout: 20_000 }).toBe(100);
});
