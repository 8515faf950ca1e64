import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { type Component, realClock, seededRandom, silentLogger } from '#base';
import { CsiDrivers, CsiNodeObject, csiPluginHandler, hostMounter, NodeVolumes, PodDirectories, startPluginRegistry } from '#kubelet';
import { TestCsiDriver } from '../../csi-driver/csi-driver.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';

const isRoot = process.getuid?.() === 0;
const mounter = hostMounter();
const signal = new AbortController().signal;
const DRIVER = 'disk.example.com';

describe.skipIf(!isRoot)('volumes of a CSI driver (needs root: it mounts)', () => {
  let plane: ControlPlane;
  let root: string;
  let driver: TestCsiDriver;
  let registry: Component;
  let drivers: CsiDrivers;
  let volumes: NodeVolumes;
  let events: string[];

  const startDriver = (options: { readonly stages?: boolean } = {}) =>
    TestCsiDriver.start({
      name: DRIVER,
      nodeId: 'id-1',
      root: join(root, 'driver'),
      socket: join(root, 'plugins', DRIVER, 'csi.sock'),
      registrationSocket: join(root, 'plugins_registry', `${DRIVER}-reg.sock`),
      topology: { 'topology.example.com/zone': 'a' },
      maxVolumes: 7,
      ...options,
    });
  const openVolumes = () => {
    const tell = (_: unknown, reason: string, message: string) => void events.push(`${reason}: ${message}`);
    return new NodeVolumes({
      client: plane.client,
      clock: realClock,
      random: seededRandom('volumes'),
      logger: silentLogger,
      recorder: { normal: tell, warning: tell, record: () => {} },
      mounter,
      drivers,
      nodeName: 'node-1',
      directories: new PodDirectories(root),
      allocatable: () => undefined,
    });
  };
  const eventually = async (check: () => Promise<boolean> | boolean) => {
    for (let i = 0; i < 400 && !(await check()); i++) await realClock.sleep(10);
    expect(await check()).toBe(true);
  };

  beforeEach(async () => {
    plane = await startControlPlane();
    root = await mkdtemp(join(tmpdir(), 'csi-'));
    events = [];
    drivers = new CsiDrivers();
    await plane.until(async () => (await plane.client.of(core.ServiceAccount).list({ namespace: 'default' })).items.length > 0);
    await plane.client.of(core.Node).create({ metadata: { name: 'node-1' } });
    const csiNode = new CsiNodeObject({ client: plane.client, nodeName: 'node-1' });
    const handlers = new Map([['CSIPlugin', csiPluginHandler({ clock: realClock, drivers, csiNode })]]);
    registry = startPluginRegistry({ directory: join(root, 'plugins_registry'), handlers }, { clock: realClock, logger: silentLogger });
    await registry.ready;
    driver = await startDriver();
    await eventually(() => driver.isRegistered);
    volumes = openVolumes();
  });

  afterEach(async () => {
    await volumes[Symbol.asyncDispose]();
    await driver[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
    drivers[Symbol.dispose]();
    const left = (await mounter.mountsBelow(root)).map(({ path }) => path);
    await mounter.unmount(...left.toReversed());
    await rm(root, { recursive: true });
    // Lets node controllers finish steps that wait for the clock.
    const closed = plane[Symbol.asyncDispose]();
    await plane.clock.advance(60_000);
    await closed;
    expect(left).toEqual([]);
  });

  const makeDriverObject = (spec: storage.CSIDriverSpec = { attachRequired: false }) =>
    plane.client.of(storage.CSIDriver).create({ metadata: { name: DRIVER }, spec });

  /** A claim bound to a volume of the driver. */
  const makeVolume = async (): Promise<void> => {
    await driver.state.put({ id: 'vol-1', name: 'one', bytes: 1, nodes: [], exclusive: true });
    await mkdir(driver.state.directory('vol-1'), { recursive: true });
    const size = { storage: '1Gi' };
    const claim = await plane.client.of(core.PersistentVolumeClaim).create({
      metadata: { name: 'c', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: size }, storageClassName: '', volumeName: 'pv-1' },
    });
    await plane.client.of(core.PersistentVolume).create({
      metadata: { name: 'pv-1' },
      spec: {
        ...{ capacity: size, accessModes: ['ReadWriteOnce'], storageClassName: '' },
        claimRef: { name: 'c', namespace: 'default', ...(claim.metadata.uid && { uid: claim.metadata.uid }) },
        csi: { driver: DRIVER, volumeHandle: 'vol-1', fsType: 'ext4', volumeAttributes: { speed: 'slow' } },
      },
    });
    const claims = plane.client.of(core.PersistentVolumeClaim);
    await plane.until(async () => (await claims.get({ name: 'c', namespace: 'default' })).status?.phase === 'Bound');
  };
  const makePod = (name: string, volume: object = { persistentVolumeClaim: { claimName: 'c' } }, spec: object = {}) => {
    const containers = [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    const own = { automountServiceAccountToken: false, containers, volumes: [{ name: 'v', ...volume }], ...spec };
    return plane.client.of(core.Pod).create({ metadata: { name, namespace: 'default' }, spec: own } as never);
  };
  const sourceOf = async (pod: core.Pod): Promise<string> => {
    const container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] } as core.Container;
    return (await volumes.volumesFor({ pod, container, env: [], supportsRecursiveReadOnly: false })).mounts[0]?.hostPath ?? '';
  };
  const uidOf = (pod: core.Pod) => pod.metadata.uid ?? '';

  it('belong to drivers that the node and its CSINode name', async () => {
    const csiNode = await plane.client.of(storage.CSINode).get({ name: 'node-1' });
    expect(csiNode.spec?.drivers).toEqual([
      { name: DRIVER, nodeID: 'id-1', topologyKeys: ['topology.example.com/zone'], allocatable: { count: 7 } },
    ]);
    const { metadata } = await plane.client.of(core.Node).get({ name: 'node-1' });
    expect(metadata.labels).toMatchObject({ 'topology.example.com/zone': 'a' });
    expect(metadata.annotations?.['csi.volume.kubernetes.io/nodeid']).toBe(`{"${DRIVER}":"id-1"}`);
    await driver[Symbol.asyncDispose]();
    await eventually(async () => ((await plane.client.of(storage.CSINode).get({ name: 'node-1' })).spec?.drivers ?? []).length === 0);
    const nodeIds = async () =>
      (await plane.client.of(core.Node).get({ name: 'node-1' })).metadata.annotations?.['csi.volume.kubernetes.io/nodeid'];
    await expect.poll(nodeIds).toBeUndefined();
  });

  it('are staged once, published for each pod, and keep their data', async () => {
    await makeDriverObject();
    await makeVolume();
    const [first, second] = [await makePod('one', undefined, { securityContext: { fsGroup: 2000 } }), await makePod('two')];
    await Promise.all([volumes.prepare(first, signal), volumes.prepare(second, signal)]);
    expect(await sourceOf(first)).toBe(join(root, 'pods', uidOf(first), 'volumes/kubernetes.io~csi/pv-1/mount'));
    expect((await stat(await sourceOf(first))).gid).toBe(2000);
    await writeFile(join(await sourceOf(first), 'f'), 'kept');
    await volumes.cleanUp(uidOf(first));
    expect(driver.calls).not.toContain('NodeUnstageVolume');
    expect(await readFile(join(await sourceOf(second), 'f'), 'utf8')).toBe('kept');
    await volumes.cleanUp(uidOf(second));
    expect(driver.calls.filter((call) => call === 'NodeUnstageVolume')).toHaveLength(1);
    expect(await readFile(join(driver.state.directory('vol-1'), 'f'), 'utf8')).toBe('kept');
    expect(await readdir(join(root, 'plugins/kubernetes.io/csi', DRIVER))).toEqual([]);
  });

  it('may be part of the pod, of drivers that offer it, which learn who it is for', async () => {
    await makeDriverObject({ podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] });
    const pod = await makePod('one', { csi: { driver: DRIVER, volumeAttributes: { a: 'b' } } });
    await volumes.prepare(pod, signal);
    expect(driver.requests.get('NodePublishVolume')).toMatchObject({
      volumeContext: { a: 'b', 'csi.storage.k8s.io/pod.name': 'one', 'csi.storage.k8s.io/ephemeral': 'true' },
    });
    await volumes.cleanUp(uidOf(pod));
    expect(driver.calls).not.toContain('NodeStageVolume');
  });

  it('of a driver that is not there are waited for', async () => {
    const pod = await makePod('one', { csi: { driver: 'nope.example.com' } });
    const stop = new AbortController();
    const prepared = volumes.prepare(pod, stop.signal);
    await eventually(() => events.length > 0);
    stop.abort(new Error('enough'));
    await expect(prepared).rejects.toThrow('enough');
    expect(events[0]).toBe(
      'FailedMount: MountVolume.SetUp failed for volume "v" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name nope.example.com not found in the list of registered CSI drivers',
    );
    await volumes.cleanUp(uidOf(pod));
  });

  it.each(['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'])(
    'come and go when %s fails, before and after acting',
    async (call) => {
      await makeDriverObject();
      await makeVolume();
      for (const fault of ['fail-once', 'fail-after-acting'] as const) {
        driver.faults.set(call, fault);
        const pod = await makePod(fault);
        await volumes.prepare(pod, signal);
        await writeFile(join(await sourceOf(pod), fault), 'x');
        await volumes.cleanUp(uidOf(pod)).catch(() => volumes.cleanUp(uidOf(pod)));
      }
      expect((await readdir(driver.state.directory('vol-1'))).sort()).toEqual(['fail-after-acting', 'fail-once']);
      expect(await readdir(join(root, 'plugins/kubernetes.io/csi', DRIVER))).toEqual([]);
      expect((await plane.client.of(core.Node).get({ name: 'node-1' })).status?.volumesInUse ?? []).toEqual([]);
    },
  );

  it('that a kubelet left behind are unpublished and unstaged by the next one', async () => {
    await makeDriverObject();
    await makeVolume();
    const pod = await makePod('one');
    driver.faults.set('NodePublishVolume', 'fail');
    const stop = new AbortController();
    const prepared = volumes.prepare(pod, stop.signal);
    await eventually(() => events.length > 0);
    stop.abort(new Error('killed'));
    await expect(prepared).rejects.toThrow('killed');
    await volumes[Symbol.asyncDispose]();
    volumes = openVolumes();
    await volumes.removeOrphans(new Set());
    expect(driver.calls.slice(-2)).toEqual(['NodeUnpublishVolume', 'NodeUnstageVolume']);
    expect((await plane.client.of(core.Node).get({ name: 'node-1' })).status?.volumesInUse ?? []).toEqual([]);
    expect(await readdir(join(root, 'pods'))).toEqual([]);
  });
});
