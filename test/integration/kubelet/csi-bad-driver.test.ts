import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { GrpcServer, unaryMethod } from '#base';
import { csi } from '#kubelet';
import { TestCsiDriver } from '../../csi-driver/csi-driver.ts';
import type { Fault } from '../../csi-driver/faults.ts';
import { CsiNodeBench, DRIVER } from './csi-node-bench.ts';

const isRoot = process.getuid?.() === 0;
const OTHER = 'good.example.com';
const signal = new AbortController().signal;
const uidOf = (pod: core.Pod) => pod.metadata.uid ?? '';

describe.skipIf(!isRoot)('a node with a driver that misbehaves (needs root: it mounts)', () => {
  let bench: CsiNodeBench;
  let other: TestCsiDriver | undefined;
  beforeEach(async () => {
    bench = await CsiNodeBench.start();
  });
  afterEach(async () => {
    await other?.[Symbol.asyncDispose]();
    other = undefined;
    await bench[Symbol.asyncDispose]();
  });

  const startOther = async () => {
    other = await TestCsiDriver.start({
      ...{ name: OTHER, nodeId: 'id-2', root: join(bench.root, 'other'), socket: join(bench.root, 'plugins', OTHER, 'csi.sock') },
      registrationSocket: join(bench.root, 'plugins_registry', `${OTHER}-reg.sock`),
    });
    const driver = other;
    await bench.eventually(() => driver.isRegistered);
  };
  const inlinePod = (name: string, driver: string) =>
    bench.plane.client.of(core.Pod).create({
      metadata: { name, namespace: 'default' },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
        volumes: [{ name: 'v', csi: { driver } }],
      },
    } as never);
  const offerInline = (name: string) =>
    bench.plane.client
      .of(storage.CSIDriver)
      .create({ metadata: { name }, spec: { podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] } });

  it('registers others while one never answers', async () => {
    const socket = join(bench.root, 'plugins_registry', 'hangs-reg.sock');
    let isAsked = false;
    const hang = unaryMethod(csi.GetRegistrationInfo, (_, call) => {
      isAsked = true;
      return new Promise<never>((_resolve, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason)));
    });
    await using _server = await GrpcServer.start({ endpoint: `unix://${socket}`, methods: [hang] });
    await bench.eventually(() => isAsked);
    await startOther();
    expect(bench.drivers.names()).toContain(OTHER);
  });

  it('names all drivers that register at once', async () => {
    await bench.driver[Symbol.asyncDispose]();
    await bench.eventually(() => bench.drivers.names().length === 0);
    await Promise.all([bench.startDriver(), startOther()]);
    const csiNode = await bench.plane.client.of(storage.CSINode).get({ name: 'node-1' });
    expect(csiNode.spec?.drivers.map(({ name }) => name).sort()).toEqual([DRIVER, OTHER]);
    const { metadata } = await bench.plane.client.of(core.Node).get({ name: 'node-1' });
    const ids = JSON.parse(metadata.annotations?.['csi.volume.kubernetes.io/nodeid'] ?? '{}') as object;
    expect(ids).toEqual({ [DRIVER]: 'id-1', [OTHER]: 'id-2' });
  });

  it('measures, mounts and removes volumes of others while one does not answer, and leaves that out', async () => {
    await startOther();
    await offerInline(DRIVER);
    await offerInline(OTHER);
    const [hung, fine] = [await inlinePod('hung', DRIVER), await inlinePod('fine', OTHER)];
    await bench.volumes.prepare(hung, signal);
    bench.driver.faults.set('NodeGetVolumeStats', 'hang');
    const stats = bench.volumes.stats(uidOf(hung));
    await bench.volumes.prepare(fine, signal);
    expect(await bench.volumes.stats(uidOf(fine))).toHaveLength(1);
    await bench.volumes.cleanUp(uidOf(fine));
    expect(await bench.mounter.mountsBelow(join(bench.root, 'pods', uidOf(fine)))).toEqual([]);
    expect(await stats).toEqual([]);
    await bench.volumes.cleanUp(uidOf(hung));
  });

  it('enlarges a volume of another driver while one does not answer', async () => {
    await startOther();
    await bench.makeVolume();
    await bench.makeVolume({ other: { name: OTHER, driver: other as TestCsiDriver } });
    const { client } = bench.plane;
    const larger = String(2 ** 25);
    for (const [name, volumeName] of [
      ['c', 'pv-1'],
      ['c-2', 'pv-2'],
    ] as const) {
      await client.of(core.PersistentVolume).patch({ name: volumeName }, { spec: { capacity: { storage: larger } } });
      const status = { allocatedResources: { storage: larger }, allocatedResourceStatuses: { storage: 'NodeResizePending' } };
      await client.of(core.PersistentVolumeClaim).patch({ name, namespace: 'default' }, { status }, { subresource: 'status' });
    }
    bench.driver.faults.set('NodeExpandVolume', 'hang');
    const own = await bench.makePod('hung');
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c-2' } }];
    const fine = await bench.makePod('fine', undefined, { volumes });
    const hung = bench.volumes.prepare(own, signal).catch(() => {});
    await bench.eventually(() => bench.driver.calls.includes('NodeExpandVolume'));
    await bench.volumes.prepare(fine, signal);
    const sizeOf = async (name: string) =>
      (await client.of(core.PersistentVolumeClaim).get({ name, namespace: 'default' })).status?.capacity?.storage;
    await expect.poll(() => sizeOf('c-2')).toBe(larger);
    expect(await sizeOf('c')).toBe(String(2 ** 24));
    // Ends the hanging call.
    await bench.driver[Symbol.asyncDispose]();
    await hung;
    await bench.startDriver();
    await bench.eventually(() => bench.drivers.names().includes(DRIVER));
    for (const pod of [own, fine]) await bench.volumes.cleanUp(uidOf(pod));
  });

  it('removes what is left of pods of another driver while one does not answer', async () => {
    await startOther();
    await offerInline(DRIVER);
    await offerInline(OTHER);
    const [hung, fine] = [await inlinePod('hung', DRIVER), await inlinePod('fine', OTHER)];
    for (const pod of [hung, fine]) await bench.volumes.prepare(pod, signal);
    await bench.volumes[Symbol.asyncDispose]();
    bench.openVolumes();
    bench.driver.faults.set('NodeUnpublishVolume', 'hang');
    const removed = bench.volumes.removeOrphans(new Set());
    const mountsOf = (pod: core.Pod) => bench.mounter.mountsBelow(join(bench.root, 'pods', uidOf(pod)));
    await expect.poll(() => mountsOf(fine)).toEqual([]);
    expect(await mountsOf(hung)).toHaveLength(1);
    await bench.driver[Symbol.asyncDispose]();
    await removed;
    await bench.startDriver();
    await bench.eventually(() => bench.drivers.names().includes(DRIVER));
    await bench.volumes.removeOrphans(new Set());
    expect(await mountsOf(hung)).toEqual([]);
  });

  it.each<[string, Fault, RegExp]>([
    ['NodeStageVolume', 'fail', /^FailedMount: MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Internal desc = /],
    ['NodePublishVolume', 'fail', /^FailedMount: MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = /],
    [
      'NodePublishVolume',
      'lie',
      /^FailedMount: MountVolume.SetUp failed for volume "pv-1" : driver disk.example.com published nothing at /,
    ],
    // A volume that is not staged cannot be published either.
    ['NodeStageVolume', 'lie', /^FailedMount: MountVolume.SetUp failed for volume "pv-1" : rpc error: code = FailedPrecondition desc = /],
    ['NodeStageVolume', 'garbage', /^FailedMount: MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = /],
  ])('tells of %s that does %s by an event, and mounts when the driver is well again', async (call, fault, event) => {
    await bench.makeVolume();
    bench.driver.faults.set(call, fault);
    const pod = await bench.makePod('one');
    const prepared = bench.volumes.prepare(pod, signal);
    await bench.eventually(() => bench.events.some((text) => event.test(text)));
    bench.driver.faults.clear();
    await prepared;
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it.each<[string, Fault]>([
    ['NodeUnpublishVolume', 'fail-once'],
    ['NodeUnpublishVolume', 'fail-after-acting'],
    ['NodeUnstageVolume', 'fail-once'],
  ])('unmounts although %s does %s, without a new step of the pod', async (call, fault) => {
    await bench.makeVolume();
    const pod = await bench.makePod('one');
    await bench.volumes.prepare(pod, signal);
    bench.driver.faults.set(call, fault);
    await bench.volumes.tearDown(uidOf(pod));
    expect(await bench.mounter.mountsBelow(bench.root)).toEqual([]);
  });

  it('unmounts the other volumes of a pod while a driver does not answer', async () => {
    await startOther();
    await offerInline(DRIVER);
    await offerInline(OTHER);
    const volumeMounts = ['a', 'b'].map((name) => ({ name, mountPath: `/${name}` }));
    const volumes = [DRIVER, OTHER].map((driver, index) => ({ name: index === 0 ? 'a' : 'b', csi: { driver } }));
    const pod = await bench.makePod('two', { volumeMounts }, { volumes });
    await bench.volumes.prepare(pod, signal);
    bench.driver.faults.set('NodeUnpublishVolume', 'hang');
    const removed = bench.volumes.tearDown(uidOf(pod));
    await expect.poll(() => bench.mounter.mountsBelow(bench.root), { timeout: 20_000 }).toHaveLength(1);
    await bench.driver[Symbol.asyncDispose]();
    await bench.startDriver();
    await removed;
    expect(await bench.mounter.mountsBelow(bench.root)).toEqual([]);
  });

  it.each(['NodeUnpublishVolume', 'NodeUnstageVolume'])(
    'removes nothing through a mount that %s only claims to have undone',
    async (call) => {
      await bench.makeVolume();
      const pod = await bench.makePod('one');
      await bench.volumes.prepare(pod, signal);
      bench.driver.faults.set(call, 'lie');
      await expect(bench.volumes.cleanUp(uidOf(pod))).rejects.toThrow(/driver disk.example.com left .* mounted/);
      bench.driver.faults.clear();
      await bench.volumes.cleanUp(uidOf(pod));
      expect(bench.driver.state.has('vol-1')).toBe(true);
    },
  );
});
