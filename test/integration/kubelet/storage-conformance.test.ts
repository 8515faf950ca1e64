import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core } from '#api';
import { isStatusReason } from '#machinery';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of volumes in containers are skipped: ${reason}`);
const POLL = { timeout: 60_000, interval: 100 };
const SLEEP = ['sleep', '100000'];
const container = (name: string, overrides: object) => ({ name, image: 'busybox:1', command: SLEEP, ...overrides });

/** Requirements of upstream's [sig-storage] conformance tests, on one node, with few pods for many tests. */
describe.skipIf(reason !== undefined)('volumes in containers, as conformance requires', () => {
  let node: RealKubelet;
  beforeAll(async () => {
    node = await openRealKubelet();
    await node.client.of(core.Namespace).create({ metadata: { name: 'other' } });
    const [maps, secrets] = [node.client.of(core.ConfigMap), node.client.of(core.Secret)];
    for (const namespace of ['default', 'other'])
      await maps.create({ metadata: { name: 'map', namespace }, data: { 'data-1': `value-1 ${namespace}`, 'data-2': 'value-2' } });
    for (const namespace of ['default', 'other'])
      await secrets.create({ metadata: { name: 'secret', namespace }, stringData: { 'data-1': `value-1 ${namespace}` } } as never);
  });
  afterAll(() => node?.[Symbol.asyncDispose]());

  const print = (pod: string, script: string) => node.exec(pod, 'sh', '-c', script);
  const users = [
    ['root', {}],
    ['non-root', { runAsUser: 1001 }],
  ] as const;
  const mediums = [
    ['default', {}],
    ['tmpfs', { medium: 'Memory' }],
  ] as const;

  it.each(users.flatMap(([user, securityContext]) => mediums.map(([medium, emptyDir]) => ({ user, medium, securityContext, emptyDir }))))(
    'emptyDir ($user, $medium) has mode 0777, and files keep theirs: 0644, 0666, 0777',
    async ({ user, medium, securityContext, emptyDir }) => {
      const name = `empty-${user}-${medium}`;
      await node.run(name, {
        securityContext,
        containers: [container('c', { volumeMounts: [{ name: 'v', mountPath: '/v' }] })] as never,
        volumes: [{ name: 'v', emptyDir }],
      });
      const write = ['644', '666', '777'].map(
        (mode) => `echo content > /v/${mode}; chmod ${mode} /v/${mode}; stat -c %a-%u /v/${mode}; cat /v/${mode}`,
      );
      const uid = user === 'root' ? '0' : '1001';
      expect(await print(name, write.join('; '))).toBe(['644', '666', '777'].map((mode) => `${mode}-${uid}\ncontent`).join('\n'));
      expect(await print(name, 'stat -c %a /v')).toBe(medium === 'tmpfs' ? '1777' : '777');
      expect(await print(name, "grep ' /v ' /proc/mounts | grep -c '^tmpfs '; true")).toBe(medium === 'tmpfs' ? '1' : '0');
    },
  );

  const ITEMS = [{ key: 'data-2', path: 'path/to/data-2' }];
  it('ConfigMaps are read as non-root, with and without mappings, plain and projected, in several volumes of a pod', async () => {
    const sources = {
      plain: { configMap: { name: 'map' } },
      again: { configMap: { name: 'map' } },
      mapped: { configMap: { name: 'map', items: ITEMS } },
      projected: { projected: { sources: [{ configMap: { name: 'map' } }] } },
      'projected-again': { projected: { sources: [{ configMap: { name: 'map' } }] } },
      'projected-mapped': { projected: { sources: [{ configMap: { name: 'map', items: ITEMS } }] } },
    };
    await runWith('maps', sources, { runAsUser: 1000 });
    for (const name of ['plain', 'again', 'projected', 'projected-again'])
      expect(await print('maps', `cat /v/${name}/data-1; ls /v/${name}`)).toBe('value-1 defaultdata-1\ndata-2');
    for (const name of ['mapped', 'projected-mapped'])
      expect(await print('maps', `cat /v/${name}/path/to/data-2; ls /v/${name}`)).toBe('value-2path');
  });

  /** A pod with each volume mounted at `/v/NAME`. */
  const runWith = (pod: string, sources: Readonly<Record<string, object>>, securityContext: object = {}) =>
    node.run(pod, {
      securityContext,
      containers: [container('c', { volumeMounts: Object.keys(sources).map((name) => ({ name, mountPath: `/v/${name}` })) })] as never,
      volumes: Object.entries(sources).map(([name, source]) => ({ name, ...source })),
    });

  it('Secrets are those of the pod’s namespace, in several volumes, plain and projected', async () => {
    const secret = { secret: { secretName: 'secret' } };
    const projected = { projected: { defaultMode: 0o400, sources: [{ secret: { name: 'secret' } }] } };
    await runWith('secrets', { one: secret, two: secret, three: projected, four: projected });
    for (const name of ['one', 'two', 'three', 'four']) {
      const mode = name === 'one' || name === 'two' ? '644' : '400';
      expect(await print('secrets', `cat /v/${name}/data-1; stat -Lc ' %a' /v/${name}/data-1`)).toBe(`value-1 default ${mode}`);
    }
  });

  it.each(['ConfigMap', 'Secret'] as const)(
    'an optional %s that is deleted, changed or made is so in volumes, plain and projected',
    async (kind) => {
      const name = (what: string) => `optional-${what}-${kind.toLowerCase()}`;
      const metadata = (what: string) => ({ name: name(what), namespace: 'default' });
      const objects = node.client.of((kind === 'Secret' ? core.Secret : core.ConfigMap) as typeof core.ConfigMap);
      const dataOf = (text: string) => (kind === 'Secret' ? { 'data-1': Buffer.from(text).toString('base64') } : { 'data-1': text });
      for (const what of ['del', 'upd']) await objects.create({ metadata: metadata(what), data: dataOf('before') });
      const plain = (what: string) =>
        kind === 'Secret' ? { secret: { secretName: name(what), optional: true } } : { configMap: { name: name(what), optional: true } };
      const projection = (what: string) => ({ [kind === 'Secret' ? 'secret' : 'configMap']: { name: name(what), optional: true } });
      const whats = ['del', 'upd', 'new'];
      const sources = Object.fromEntries(
        whats.flatMap((what) => [
          [what, plain(what)],
          [`p-${what}`, { projected: { sources: [projection(what)] } }],
        ]),
      );
      const pod = name('pod');
      await runWith(pod, sources);
      const listing = (prefix: string) =>
        print(pod, `for w in del upd new; do cat /v/${prefix}$w/data-1 2>/dev/null || echo -n none; echo; done`);
      for (const prefix of ['', 'p-']) expect(await listing(prefix)).toBe('before\nbefore\nnone');
      await objects.delete(metadata('del'));
      await objects.patch(metadata('upd'), { data: dataOf('after') });
      await objects.create({ metadata: metadata('new'), data: dataOf('made') });
      for (const prefix of ['', 'p-']) await expect.poll(() => listing(prefix), POLL).toBe('none\nafter\nmade');
    },
  );

  it.each(['ConfigMap', 'Secret'] as const)('an immutable %s is not changed, and not made mutable again, but labelled', async (kind) => {
    const objects = node.client.of((kind === 'Secret' ? core.Secret : core.ConfigMap) as typeof core.ConfigMap);
    const key = { name: 'immutable', namespace: 'default' };
    await objects.create({ metadata: key, data: { k: 'eA==' } });
    await objects.patch(key, { data: { k: 'eQ==' } });
    await objects.patch(key, { immutable: true });
    for (const change of [{ data: { k: 'eg==' } }, { immutable: false }, { data: { other: 'eg==' } }])
      await expect(objects.patch(key, change)).rejects.toSatisfy((error) => isStatusReason(error, 'Invalid'));
    expect((await objects.patch(key, { metadata: { labels: { a: 'b' } } })).metadata.labels).toEqual({ a: 'b' });
    await objects.delete(key);
  });

  it('all kinds of projections make up one volume', async () => {
    const figures = ['limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
    const divisor = (resource: string) => (resource.endsWith('cpu') ? '1m' : '1Mi');
    const items = figures.map((resource) => ({
      path: resource,
      resourceFieldRef: { containerName: 'c', resource, divisor: divisor(resource) },
    }));
    const sources = [
      { configMap: { name: 'map', items: [{ key: 'data-1', path: 'map' }] } },
      { secret: { name: 'secret', items: [{ key: 'data-1', path: 'secret' }] } },
      { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }, ...items] } },
    ];
    const resources = { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '250m', memory: '32Mi' } };
    await node.run('combined', {
      containers: [container('c', { resources, volumeMounts: [{ name: 'all', mountPath: '/v' }] })] as never,
      volumes: [{ name: 'all', projected: { sources } }] as never,
    });
    expect(await print('combined', `for f in map secret name ${figures.join(' ')}; do cat /v/$f; echo; done`)).toBe(
      'value-1 default\nvalue-1 default\ncombined\n500\n64\n250\n32',
    );
  });

  it('volumes that share a medium do not conflict', async () => {
    await runWith('wrapper', {
      secret: { secret: { secretName: 'secret' } },
      map: { configMap: { name: 'map' } },
      empty: { emptyDir: {} },
    });
    expect(await print('wrapper', 'ls /v/secret /v/map /v/empty')).toBe('/v/empty:\n\n/v/map:\ndata-1\ndata-2\n\n/v/secret:\ndata-1');
  });

  it('five pods with fifty ConfigMaps each start at once', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `race-${i}`);
    for (const name of names)
      await node.client.of(core.ConfigMap).create({ metadata: { name, namespace: 'default' }, data: { 'data-1': name } });
    const sources = Object.fromEntries(names.map((name) => [name, { configMap: { name } }]));
    const pods = Array.from({ length: 5 }, (_, i) => `racer-${i}`);
    await Promise.all(pods.map((pod) => runWith(pod, sources)));
    for (const pod of pods) expect(await print(pod, 'cat /v/*/data-1 | wc -c')).toBe(String(names.join('').length));
  });

  it('subPaths show one file of atomically written volumes, over an existing file too', async () => {
    const labels = { downwardAPI: { items: [{ path: 'file', fieldRef: { fieldPath: 'metadata.name' } }] } };
    const items = (key: string) => [{ key, path: 'file' }];
    const sources = {
      map: { configMap: { name: 'map', items: items('data-1') } },
      secret: { secret: { secretName: 'secret', items: items('data-1') } },
      downward: labels,
      projected: { projected: { sources: [{ configMap: { name: 'map', items: items('data-1') } }] } },
    };
    const volumeMounts = [
      ...Object.keys(sources).map((name) => ({ name, mountPath: `/v/${name}`, subPath: 'file' })),
      { name: 'map', mountPath: '/etc/hostname', subPath: 'file' },
    ];
    await node.run('subpaths', {
      containers: [container('c', { volumeMounts })] as never,
      volumes: Object.entries(sources).map(([name, source]) => ({ name, ...source })) as never,
    });
    const output = await print('subpaths', 'for f in /v/map /v/secret /v/downward /v/projected /etc/hostname; do cat $f; echo; done');
    expect(output).toBe('value-1 default\nvalue-1 default\nsubpaths\nvalue-1 default\nvalue-1 default');
  });
});
