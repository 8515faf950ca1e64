import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { type Clock, realClock, seededRandom, silentLogger, VirtualClock } from '#base';
import { CsiDrivers, hostMounter, NodeVolumes, PodDirectories } from '#kubelet';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';

const isRoot = process.getuid?.() === 0;
const mounter = hostMounter();
const signal = new AbortController().signal;

interface Told {
  readonly reason: string;
  readonly message: string;
}

/** A node's volumes on a real file system, with a real API server. */
describe.skipIf(!isRoot)('the volumes of a node (needs root: it mounts)', () => {
  let plane: ControlPlane;
  let root: string;
  let volumes: NodeVolumes;
  let events: Told[];

  const open = (clock: Clock = realClock) => {
    const tell = (_: unknown, reason: string, message: string) => void events.push({ reason, message });
    return new NodeVolumes({
      client: plane.client,
      clock,
      random: seededRandom('volumes'),
      logger: silentLogger,
      recorder: { normal: tell, warning: tell, record: () => {} },
      mounter,
      drivers: new CsiDrivers(),
      nodeName: 'node-1',
      directories: new PodDirectories(root),
      allocatable: () => ({ memory: '1Gi', cpu: '4' }),
    });
  };

  beforeEach(async () => {
    plane = await startControlPlane();
    root = await mkdtemp(join(tmpdir(), 'kubelet-'));
    events = [];
    volumes = open();
    await plane.until(async () => (await plane.client.of(core.ServiceAccount).list({ namespace: 'default' })).items.length > 0);
  });

  afterEach(async () => {
    await volumes[Symbol.asyncDispose]();
    const left = await mounter.mountsBelow(root);
    await mounter.unmount(...left.map(({ path }) => path).reverse());
    await rm(root, { recursive: true });
    await plane[Symbol.asyncDispose]();
    expect(left).toEqual([]);
  });

  const podWith = (volume: Omit<core.Volume, 'name'>, spec: Partial<core.PodSpec> = {}): Promise<core.Pod> => {
    const container = { name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] };
    const own = { automountServiceAccountToken: false, containers: [container], volumes: [{ name: 'v', ...volume }] };
    const draft = { metadata: { name: 'p', namespace: 'default' }, spec: { ...own, ...spec } };
    return plane.client.of(core.Pod).create(draft as never);
  };
  const sourceOf = async (pod: core.Pod, mount: Partial<core.VolumeMount> = {}): Promise<string> => {
    const container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] } as core.Container;
    const { mounts } = await volumes.volumesFor({ pod, container, env: [{ name: 'E', value: 'e' }], supportsRecursiveReadOnly: false });
    return mounts[0]?.hostPath ?? '';
  };
  const modeAndOwner = async (path: string) => {
    const { mode, uid, gid } = await stat(path);
    return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
  };
  const makeConfigMap = (data: Record<string, string>, name = 'm') =>
    plane.client.of(core.ConfigMap).create({ metadata: { name, namespace: 'default' }, data });
  const eventually = async (check: () => Promise<boolean>) => {
    while (!(await check())) await realClock.sleep(5);
  };
  const end = (pod: core.Pod) => volumes.cleanUp(pod.metadata.uid ?? '');

  it('are upstream’s directories', async () => {
    const pod = await podWith({ emptyDir: {} });
    await volumes.prepare(pod, signal);
    const path = await sourceOf(pod);
    expect(path).toBe(join(root, 'pods', pod.metadata.uid ?? '', 'volumes/kubernetes.io~empty-dir/v'));
    expect(await modeAndOwner(path)).toBe('777 0:0');
    await writeFile(join(path, 'f'), 'x');
    await end(pod);
    expect(await readdir(join(root, 'pods'))).toEqual([]);
  });

  it('in memory are as large as the pod’s limits', async () => {
    const resources = { limits: { memory: '48Mi' } };
    const container = { name: 'c', image: 'x', resources, volumeMounts: [{ name: 'v', mountPath: '/v' }] };
    const pod = await podWith({ emptyDir: { medium: 'Memory' } }, { containers: [container] as never });
    await volumes.prepare(pod, signal);
    const path = await sourceOf(pod);
    expect(await modeAndOwner(path)).toBe('1777 0:0');
    expect((await volumes.stats(pod.metadata.uid ?? ''))[0]?.capacityBytes).toBe(48 * 2 ** 20);
    await end(pod);
  });

  it('follow their ConfigMap, all files at once', async () => {
    await makeConfigMap({ a: '1', b: '1' });
    const pod = await podWith({ configMap: { name: 'm' } });
    await volumes.prepare(pod, signal);
    const path = await sourceOf(pod);
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('1');
    await plane.client.of(core.ConfigMap).patch({ name: 'm', namespace: 'default' }, { data: { a: '2', b: null, c: '2' } });
    await eventually(async () => (await readFile(join(path, 'a'), 'utf8')) === '2');
    await eventually(async () => (await readdir(path)).join() === (await readdir(path)).filter((name) => name !== 'b').join());
    expect((await readdir(path)).filter((name) => !name.startsWith('..')).sort()).toEqual(['a', 'c']);
    await end(pod);
  });

  it('wait for what they are made of, and say so', async () => {
    const pod = await podWith({ configMap: { name: 'late', items: [{ key: 'k', path: 'k' }] } });
    const prepared = volumes.prepare(pod, signal);
    await eventually(async () => events.length > 0);
    expect(events[0]).toEqual({ reason: 'FailedMount', message: 'MountVolume.SetUp failed for volume "v" : configmap "late" not found' });
    await makeConfigMap({ other: 'x' }, 'late');
    await eventually(async () => events.some(({ message }) => message.includes('non-existent')));
    expect(events.at(-1)?.message).toBe('MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: k');
    await plane.client.of(core.ConfigMap).patch({ name: 'late', namespace: 'default' }, { data: { k: 'came' } });
    await prepared;
    expect(await readFile(join(await sourceOf(pod), 'k'), 'utf8')).toBe('came');
    await end(pod);
  });

  it('of a type that the node does not know are named by an event', async () => {
    const clock = new VirtualClock();
    await volumes[Symbol.asyncDispose]();
    volumes = open(clock);
    const pod = await podWith({ rbd: { monitors: ['m'], image: 'i' } });
    const message =
      'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: ' +
      'failed to get Plugin from volumeSpec for volume "v" err=no volume plugin matched';
    const refused = expect(volumes.prepare(pod, signal)).rejects.toThrow(message);
    await clock.advance(130_000);
    await refused;
    expect(events).toContainEqual({ reason: 'FailedMount', message });
    await end(pod);
  });

  it('that no container mounts need not be there', async () => {
    const pod = await podWith({ secret: { secretName: 'nope' } }, { containers: [{ name: 'c', image: 'x' }] as never });
    await volumes.prepare(pod, signal);
    await end(pod);
  });

  it('give a Secret to the group of the pod, readable for it', async () => {
    await plane.client.of(core.Secret).create({ metadata: { name: 's', namespace: 'default' }, stringData: { k: 'v' } } as never);
    const pod = await podWith({ secret: { secretName: 's', defaultMode: 0o400 } }, { securityContext: { fsGroup: 2000 } });
    await volumes.prepare(pod, signal);
    const path = await sourceOf(pod);
    expect([await modeAndOwner(path), await modeAndOwner(join(path, '..data')), await modeAndOwner(join(path, 'k'))]).toEqual([
      '3777 0:2000',
      '2755 0:2000',
      '440 0:2000',
    ]);
    await end(pod);
  });

  it('show labels and annotations, and follow them', async () => {
    const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
    const pod = await podWith({ downwardAPI: { items } });
    await volumes.prepare(pod, signal);
    const path = join(await sourceOf(pod), 'labels');
    expect(await readFile(path, 'utf8')).toBe('');
    volumes.update({ ...pod, metadata: { ...pod.metadata, labels: { b: 'say "hi"\n', a: '' } } });
    await eventually(async () => (await readFile(path, 'utf8')) !== '');
    expect(await readFile(path, 'utf8')).toBe('a=""\nb="say \\"hi\\"\\n"');
    await end(pod);
  });

  it('of a pod that a later kubelet knows are adopted, those of others removed', async () => {
    await makeConfigMap({ a: '1' });
    const pod = await podWith({ projected: { sources: [{ configMap: { name: 'm' } }] } });
    await volumes.prepare(pod, signal);
    const path = await sourceOf(pod);
    await sourceOf(pod, { subPath: 'a' });
    const before = await mounter.mountsBelow(root);
    await volumes[Symbol.asyncDispose]();
    volumes = open();
    await volumes.removeOrphans(new Set([pod.metadata.uid ?? '']));
    await volumes.prepare(pod, signal);
    expect(await mounter.mountsBelow(root)).toEqual(before);
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('1');
    await volumes[Symbol.asyncDispose]();
    volumes = open();
    await volumes.removeOrphans(new Set());
    expect(await mounter.mountsBelow(root)).toEqual([]);
    expect(await readdir(join(root, 'pods'))).toEqual([]);
  });

  it('say that a subPath through a file cannot be prepared', async () => {
    await makeConfigMap({ a: '1' });
    const pod = await podWith({ projected: { sources: [{ configMap: { name: 'm' } }] } });
    await volumes.prepare(pod, signal);
    await expect(sourceOf(pod, { subPath: 'a/b' })).rejects.toThrow('failed to prepare subPath for volumeMount "v" of container "c"');
    await end(pod);
  });

  it.each([
    [{ subPathExpr: '$(E)/x' }, undefined],
    [{ subPathExpr: '$(NO)/x' }, 'missing value for NO'],
    [{ subPath: '../x' }, "unable to provision SubPath `../x`: must not contain '..'"],
    [{ subPath: '/etc' }, 'error SubPath `/etc` must not be an absolute path'],
    [
      { readOnly: true, recursiveReadOnly: 'Enabled' },
      'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is not supported by the runtime',
    ],
    [{ name: 'w' }, 'cannot find volume "w" to mount into container "c"'],
  ])('are mounted as %j', async (mount, problem) => {
    const pod = await podWith({ emptyDir: {} });
    await volumes.prepare(pod, signal);
    if (problem === undefined) expect(await sourceOf(pod, mount)).toMatch(/volume-subpaths\/v\/c\/0$/);
    else await expect(sourceOf(pod, mount)).rejects.toThrow(problem);
    await end(pod);
  });

  it.each([{}, { medium: 'Memory' }])('as emptyDir %j are shared with containers that ask for it', async (emptyDir) => {
    const pod = await podWith({ emptyDir });
    await volumes.prepare(pod, signal);
    const path = await sourceOf(pod, { mountPropagation: 'HostToContainer' });
    await sourceOf(pod, { mountPropagation: 'HostToContainer' });
    expect(await mounter.mountsBelow(root)).toMatchObject([{ path, shared: true }]);
    await end(pod);
  });

  it('of a claim that is not bound are waited for, until upstream’s time is over', async () => {
    const pod = await podWith({ persistentVolumeClaim: { claimName: 'c' } });
    const stop = new AbortController();
    const prepared = volumes.prepare(pod, stop.signal);
    stop.abort(new Error('enough'));
    await expect(prepared).rejects.toThrow('enough');
    await end(pod);
  });
});
