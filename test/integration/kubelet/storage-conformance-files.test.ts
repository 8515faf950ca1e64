import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core } from '#api';
import { openRealKubelet, type RealKubelet, whyNoContainers } from './real-kubelet.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of files in volumes are skipped: ${reason}`);
const POLL = { timeout: 60_000, interval: 100 };
const BYTES = Buffer.from([0xde, 0xca, 0xfe, 0xba, 0xd0, 0xfe, 0xff]);
const RESOURCES = { requests: { cpu: '250m', memory: '32Mi' }, limits: { cpu: '1250m', memory: '64Mi' } };

/** Contents, modes and changes of files, for plain and projected volumes, as upstream's [sig-storage] conformance tests require. */
describe.skipIf(reason !== undefined)('files in volumes, as conformance requires', () => {
  let node: RealKubelet;
  beforeAll(async () => {
    node = await openRealKubelet();
    const metadata = { name: 'files', namespace: 'default' };
    const data = { 'data-1': 'value-1', 'data-2': 'value-2' };
    await node.client.of(core.ConfigMap).create({ metadata, data, binaryData: { 'dump.bin': BYTES.toString('base64') } });
    await node.client.of(core.Secret).create({ metadata, stringData: data } as never);
  });
  afterAll(() => node?.[Symbol.asyncDispose]());

  const print = (pod: string, script: string) => node.exec(pod, 'sh', '-c', script);
  /** A pod with each volume mounted at `/v/NAME`. */
  const runWith = (pod: string, sources: Readonly<Record<string, object>>, overrides: object = {}) =>
    node.run(pod, {
      containers: [
        {
          ...{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'], resources: RESOURCES },
          volumeMounts: Object.keys(sources).map((name) => ({ name, mountPath: `/v/${name}` })),
        },
      ] as never,
      volumes: Object.entries(sources).map(([name, source]) => ({ name, ...source })),
      ...overrides,
    });

  type Options = { readonly items?: readonly object[]; readonly defaultMode?: number };
  const NAMED = [{ path: 'data-1', fieldRef: { fieldPath: 'metadata.name' } }];
  /** All kinds of volumes with files, with these options. */
  const volumesOf = ({ items, defaultMode }: Options, mode?: number) => {
    const own = { ...(items && { items: items.map((item) => ({ ...item, ...(mode !== undefined && { mode }) })) }) };
    const fields = { items: NAMED.map((item) => ({ ...item, ...(mode !== undefined && { mode }) })) };
    const volume = { ...(defaultMode !== undefined && { defaultMode }) };
    return {
      map: { configMap: { name: 'files', ...own, ...volume } },
      secret: { secret: { secretName: 'files', ...own, ...volume } },
      downward: { downwardAPI: { ...fields, ...volume } },
      'projected-map': { projected: { sources: [{ configMap: { name: 'files', ...own } }], ...volume } },
      'projected-secret': { projected: { sources: [{ secret: { name: 'files', ...own } }], ...volume } },
      'projected-downward': { projected: { sources: [{ downwardAPI: fields }], ...volume } },
    };
  };
  const KINDS = Object.keys(volumesOf({}));
  const modes = async (pod: string, file: (kind: string) => string) =>
    (await print(pod, KINDS.map((kind) => `stat -L -c %a /v/${kind}/${file(kind)}`).join('; '))).split('\n');

  it('have mode 0644, that of their volume, or that of their item', async () => {
    await runWith('plain-modes', volumesOf({}));
    expect(await modes('plain-modes', () => 'data-1')).toEqual(KINDS.map(() => '644'));
    await runWith('default-modes', volumesOf({ defaultMode: 0o400 }));
    expect(await modes('default-modes', () => 'data-1')).toEqual(KINDS.map(() => '400'));
    const items = [{ key: 'data-2', path: 'path/to/data-2' }];
    await runWith('item-modes', volumesOf({ items }, 0o400));
    expect(await modes('item-modes', (kind) => (kind.includes('downward') ? 'data-1' : 'path/to/data-2'))).toEqual(KINDS.map(() => '400'));
    for (const kind of ['map', 'secret', 'projected-map', 'projected-secret'])
      expect(await print('item-modes', `cat /v/${kind}/path/to/data-2; echo; ls /v/${kind}`)).toBe('value-2\npath');
  });

  it('are read as non-root with the mode of the volume and the fsGroup of the pod', async () => {
    await runWith('groups', volumesOf({ defaultMode: 0o440 }), { securityContext: { runAsUser: 1000, fsGroup: 1001 } });
    for (const kind of ['secret', 'projected-secret'])
      expect(await print('groups', `stat -L -c %a:%g /v/${kind}/data-1; cat /v/${kind}/data-1`)).toBe('440:1001\nvalue-1');
  });

  it('hold binary data of a ConfigMap, beside its text', async () => {
    await runWith('binary', { map: { configMap: { name: 'files' } } });
    expect(await print('binary', 'od -An -tx1 /v/map/dump.bin; cat /v/map/data-1')).toBe('de ca fe ba d0 fe ff\nvalue-1');
  });

  const resource = (name: string, divisor?: string) => ({
    ...{ path: name, resourceFieldRef: { containerName: 'c', resource: name, ...(divisor && { divisor }) } },
  });
  const RESOURCE_ITEMS = [
    ...[resource('limits.cpu', '1m'), resource('requests.cpu', '1m'), resource('limits.memory'), resource('requests.memory')],
    { path: 'podname', fieldRef: { fieldPath: 'metadata.name' } },
  ];
  const downwardVolumes = (items: readonly object[]) => ({
    plain: { downwardAPI: { items } },
    projected: { projected: { sources: [{ downwardAPI: { items } }] } },
  });

  it('show the limits and requests of a container, and the name of its pod', async () => {
    await runWith('downward', downwardVolumes(RESOURCE_ITEMS));
    for (const volume of ['plain', 'projected']) {
      const files = RESOURCE_ITEMS.map(({ path }) => `cat /v/${volume}/${path}; echo`).join('; ');
      expect(await print('downward', files)).toBe(`1250\n250\n${64 << 20}\n${32 << 20}\ndownward`);
    }
  });

  it('show what the node has where a container has no limits', async () => {
    const containers = [
      {
        ...{ name: 'c', image: 'busybox:1', command: ['sleep', '100000'] },
        volumeMounts: ['plain', 'projected'].map((name) => ({ name, mountPath: `/v/${name}` })),
      },
    ];
    await runWith('unlimited', downwardVolumes([resource('limits.cpu', '1m'), resource('limits.memory')]), { containers });
    const { status } = (await node.client.of(core.Node).list()).items[0] ?? {};
    const { cpu = '', memory = '' } = status?.allocatable ?? {};
    const bytes = Number(memory.replace('Ki', '')) * (memory.endsWith('Ki') ? 1024 : 1);
    const millis = cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
    for (const volume of ['plain', 'projected'])
      expect(await print('unlimited', `cat /v/${volume}/limits.cpu; echo; cat /v/${volume}/limits.memory`)).toBe(`${millis}\n${bytes}`);
  });

  it('follow the labels and annotations of their pod, and the data of a ConfigMap', async () => {
    const metadata = { name: 'changing', namespace: 'default' };
    await node.client.of(core.ConfigMap).create({ metadata, data: { 'data-1': 'before' } });
    const items = ['labels', 'annotations'].map((path) => ({ path, fieldRef: { fieldPath: `metadata.${path}` } }));
    const maps = {
      map: { configMap: { name: 'changing' } },
      'projected-map': { projected: { sources: [{ configMap: { name: 'changing' } }] } },
    };
    await runWith('followed', { ...downwardVolumes(items), ...maps });
    await node.client
      .of(core.Pod)
      .patch({ name: 'followed', namespace: 'default' }, { metadata: { labels: { key3: 'value3' }, annotations: { builder: 'foo' } } });
    await node.client.of(core.ConfigMap).patch(metadata, { data: { 'data-1': 'after' } });
    for (const volume of ['plain', 'projected']) {
      await expect.poll(() => print('followed', `cat /v/${volume}/labels`), POLL).toContain('key3="value3"');
      await expect.poll(() => print('followed', `cat /v/${volume}/annotations`), POLL).toContain('builder="foo"');
    }
    for (const volume of Object.keys(maps)) await expect.poll(() => print('followed', `cat /v/${volume}/data-1`), POLL).toBe('after');
  });
});
