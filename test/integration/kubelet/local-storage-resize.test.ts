import { access, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { type Component, realClock, runProgram, seededRandom, silentLogger } from '#base';
import { CsiDrivers, directoryBackend, hostMounter, NodeVolumes, PodDirectories, startLocalProvisioner } from '#kubelet';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';

const canLoop = await Promise.all([access('/dev/loop-control'), runProgram('mkfs.ext4', ['-V'])]).then(
  () => process.getuid?.() === 0,
  () => false,
);
const mounter = hostMounter();
const { signal } = new AbortController();
const recorder = { normal: () => {}, warning: () => {}, record: () => {} };
const claimKey = { name: 'data', namespace: 'default' };

describe.skipIf(!canLoop)('a volume in a file, where no mounted file system can grow (needs root and loop devices)', () => {
  let plane: ControlPlane;
  let root: string;
  let volumes: NodeVolumes;
  let provisioner: Component;
  const { PATH = '' } = process.env;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'resize-'));
    await shareMounts();
    await refuseOnlineResize();
    plane = await startControlPlane();
    const deps = { client: plane.client, clock: plane.clock, random: seededRandom('resize'), logger: silentLogger };
    const backend = directoryBackend(join(root, 'local-volumes'), mounter);
    provisioner = startLocalProvisioner({ backendOf: () => backend, nodeNames: () => ['node-1'] }, deps);
    const node = { nodeName: 'node-1', directories: new PodDirectories(root), allocatable: () => ({ memory: '1Gi', cpu: '4' }) };
    volumes = new NodeVolumes({ ...deps, ...node, clock: realClock, recorder, mounter, drivers: new CsiDrivers() });
    await plane.client.of(core.Node).create({ metadata: { name: 'node-1', labels: { 'kubernetes.io/hostname': 'node-1' } } });
    await createClaim();
  });

  afterEach(async () => {
    process.env.PATH = PATH;
    await volumes[Symbol.asyncDispose]();
    await provisioner[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
    await mounter.unmount(...(await mounter.mountsBelow(root)).map(({ path }) => path).reverse());
    await rm(root, { recursive: true });
    expect(await runProgram('losetup', ['--list'])).not.toContain(root);
  });

  /**
   * Otherwise a mount namespace created by a concurrent test copies the mounts, and the file system stays in use after it is unmounted
   * here.
   */
  const shareMounts = async () => {
    await runProgram('mount', ['--bind', root, root]);
    await runProgram('mount', ['--make-shared', root]);
  };
  /** Like a container without CAP_SYS_RESOURCE, where resize2fs still succeeds for a file system that has the right size. */
  const refuseOnlineResize = async () => {
    const real = (await runProgram('which', ['resize2fs'])).trim();
    const isMountedAndSmaller = 'grep -q "^$1 " /proc/mounts && ! dumpe2fs -h "$1" 2>/dev/null | grep -q "^Block count: *32768$"';
    const script = `#!/bin/sh\nif ${isMountedAndSmaller}; then echo "Permission denied to resize filesystem" >&2; exit 1; fi\nexec ${real} "$@"\n`;
    await writeFile(join(root, 'resize2fs'), script, { mode: 0o755 });
    process.env.PATH = `${root}:${PATH}`;
  };
  /** Programs run in real time; the provisioner uses the plane's clock. */
  const until = (condition: () => Promise<boolean>) =>
    expect
      .poll(async () => {
        await plane.clock.advance(500);
        return condition();
      })
      .toBe(true);
  const claim = () => plane.client.of(core.PersistentVolumeClaim).get(claimKey);
  const createClaim = async () => {
    const provisionerName = { provisioner: 'sampan.dev/local', allowVolumeExpansion: true, parameters: { backing: 'loop' } };
    await plane.client.of(storage.StorageClass).create({ metadata: { name: 'limited' }, ...provisionerName });
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'limited', resources: { requests: { storage: '8Mi' } } };
    await plane.client.of(core.PersistentVolumeClaim).create({ metadata: claimKey, spec });
    await until(async () => (await claim()).status?.phase === 'Bound');
  };
  const startPod = async (name: string): Promise<core.Pod> => {
    const containers = [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    const own = { automountServiceAccountToken: false, nodeName: 'node-1', containers };
    const spec = { ...own, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] };
    await until(async () => (await plane.client.of(core.ServiceAccount).list({ namespace: 'default' })).items.length > 0);
    const pod = await plane.client.of(core.Pod).create({ metadata: { name, namespace: 'default' }, spec } as never);
    await volumes.prepare(pod, signal);
    return pod;
  };
  const sizeFor = async (pod: core.Pod) => {
    const container = pod.spec?.containers[0] as core.Container;
    const { mounts } = await volumes.volumesFor({ pod, container, env: [], supportsRecursiveReadOnly: false });
    const { blocks, bsize } = await statfs(mounts[0]?.hostPath ?? '');
    return blocks * bsize;
  };

  it('grows when the next pod mounts it, and its claim says meanwhile what it waits for', async () => {
    const first = await startPod('first');
    await plane.client.of(core.PersistentVolumeClaim).patch(claimKey, { spec: { resources: { requests: { storage: '32Mi' } } } });
    await until(async () => (await claim()).status?.allocatedResourceStatuses?.storage === 'NodeResizePending');
    const { status } = await claim();
    expect(status).toMatchObject({ capacity: { storage: '8Mi' }, allocatedResources: { storage: '32Mi' } });
    expect(status?.conditions?.map(({ type, message }) => [type, message])).toEqual([
      ['FileSystemResizePending', 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.'],
    ]);
    expect(await sizeFor(first)).toBeLessThan(9 << 20);
    await volumes.cleanUp(first.metadata.uid ?? '');
    const second = await startPod('second');
    expect(await sizeFor(second)).toBeGreaterThan(20 << 20);
    await until(async () => (await claim()).status?.capacity?.storage === '32Mi');
    const { allocatedResourceStatuses, conditions } = (await claim()).status ?? {};
    expect([allocatedResourceStatuses, conditions]).toEqual([undefined, undefined]);
    await volumes.cleanUp(second.metadata.uid ?? '');
  });

  it('grows once where the provisioner and the kubelet grow it at the same time, and leaves no loop device', async () => {
    const directory = join(root, 'local-volumes');
    const name = (await claim()).spec?.volumeName ?? '';
    const grow = () => directoryBackend(directory, hostMounter()).expand({ name, backing: 'loop', bytes: 32 << 20 });
    await Promise.all([grow(), grow(), grow()]);
    const { blocks, bsize } = await statfs(join(directory, name));
    expect(blocks * bsize).toBeGreaterThan(20 << 20);
    expect(await mounter.mountsBelow(join(directory, name))).toHaveLength(1);
  });
});
