import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { CsiNodeBench } from './csi-node-bench.ts';

const isRoot = process.getuid?.() === 0;
const signal = new AbortController().signal;
const NAMES = ['csi', 'local', 'scratch', 'memory', 'secret'];
const MIB = 2 ** 20;

describe.skipIf(!isRoot)('volumes of a machine that fails (needs root: it mounts)', () => {
  let bench: CsiNodeBench;
  beforeEach(async () => {
    bench = await CsiNodeBench.start();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const client = () => bench.plane.client;
  const makeLocalVolume = async () => {
    const key = { name: 'local', namespace: 'default' };
    const path = join(bench.root, 'local-volume');
    await mkdir(path);
    const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] }] };
    const claims = client().of(core.PersistentVolumeClaim);
    await claims.create({ metadata: key, spec: { ...shared, resources: { requests: { storage: '1Mi' } }, volumeName: 'local' } });
    await client()
      .of(core.PersistentVolume)
      .create({
        metadata: { name: 'local' },
        spec: {
          ...{ ...shared, capacity: { storage: '1Mi' }, claimRef: key, local: { path } },
          nodeAffinity: { required: { nodeSelectorTerms: [term] } },
        },
      });
    await bench.plane.until(async () => (await claims.get(key)).status?.phase === 'Bound');
  };
  const createPod = (name: string, volumes: readonly core.Volume[]) => {
    const containers = [
      { name: 'c', image: 'x', volumeMounts: volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` })) },
    ];
    const spec = { automountServiceAccountToken: false, containers, volumes };
    return client()
      .of(core.Pod)
      .create({ metadata: { name, namespace: 'default' }, spec } as never);
  };
  const pathOf = async (pod: core.Pod, name: string) => {
    const container = { name: 'c', volumeMounts: [{ name, mountPath: '/v' }] } as core.Container;
    return (await bench.volumes.volumesFor({ pod, container, env: [], supportsRecursiveReadOnly: false })).mounts[0]?.hostPath ?? '';
  };
  /** Like a reboot: the kubelet and the driver have ended and nothing is mounted; files are unchanged. */
  const reboot = async () => {
    await bench.volumes[Symbol.asyncDispose]();
    await bench.driver[Symbol.asyncDispose]();
    await bench.eventually(() => bench.drivers.names().length === 0);
    await bench.mounter.unmount(...(await bench.mounter.mountsBelow(bench.root)).map(({ path }) => path).reverse());
    await bench.startDriver();
    bench.openVolumes();
  };

  it('come back after a reboot with what was on disks, and those of pods that are gone do not', async () => {
    await bench.makeVolume({ isImage: true, bytes: 16 * MIB });
    await makeLocalVolume();
    await client()
      .of(core.Secret)
      .create({ metadata: { name: 's', namespace: 'default' }, stringData: { k: 'v' } } as never);
    const pod = await createPod('stays', [
      { name: 'csi', persistentVolumeClaim: { claimName: 'c' } },
      { name: 'local', persistentVolumeClaim: { claimName: 'local' } },
      { name: 'scratch', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
      { name: 'secret', secret: { secretName: 's' } },
    ]);
    const deletedPod = await createPod('gone', [{ name: 'memory', emptyDir: { medium: 'Memory' } }]);
    await bench.volumes.prepare(pod, signal);
    await bench.volumes.prepare(deletedPod, signal);
    const before = await Promise.all(NAMES.map((name) => pathOf(pod, name)));
    for (const name of ['csi', 'local', 'scratch', 'memory']) await writeFile(join(await pathOf(pod, name), 'f'), name);
    await reboot();
    await bench.volumes.removeOrphans(new Set([pod.metadata.uid ?? '']));
    expect(await readdir(join(bench.root, 'pods'))).toEqual([pod.metadata.uid]);
    await bench.volumes.prepare(pod, signal);
    expect(await Promise.all(NAMES.map((name) => pathOf(pod, name)))).toEqual(before);
    for (const name of ['csi', 'local', 'scratch']) expect(await readFile(join(await pathOf(pod, name), 'f'), 'utf8')).toBe(name);
    expect(await readdir(await pathOf(pod, 'memory'))).toEqual([]);
    expect(await readFile(join(await pathOf(pod, 'secret'), 'k'), 'utf8')).toBe('v');
    await bench.volumes.cleanUp(pod.metadata.uid ?? '');
  });

  it('wait for room on a full disk, and say so', async () => {
    const pods = join(bench.root, 'pods');
    await mkdir(pods, { recursive: true });
    await bench.mounter.mount({ source: 'tmpfs', target: pods, fsType: 'tmpfs', options: ['size=64k'] });
    await writeFile(join(pods, 'ballast'), Buffer.alloc(60 * 1024));
    const data = { k: 'x'.repeat(16 * 1024) };
    await client()
      .of(core.ConfigMap)
      .create({ metadata: { name: 'm', namespace: 'default' }, data });
    const pod = await createPod('p', [{ name: 'map', configMap: { name: 'm' } }]);
    const prepared = bench.volumes.prepare(pod, signal);
    await bench.eventually(() => bench.events.length > 0);
    expect(bench.events[0]).toMatch(/^FailedMount: MountVolume.SetUp failed for volume "map" : .*no space left on device/i);
    await rm(join(pods, 'ballast'));
    await prepared;
    expect(await readFile(join(await pathOf(pod, 'map'), 'k'), 'utf8')).toBe(data.k);
    await bench.volumes.cleanUp(pod.metadata.uid ?? '');
    await bench.mounter.unmount(pods);
  });
});
