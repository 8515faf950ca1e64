import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { GrpcError, grpcStatus, runProgram } from '#base';
import { loopDeviceOf } from '../../csi-driver/loop-devices.ts';
import { CLAIM, CsiNodeBench, DRIVER } from './csi-node-bench.ts';

const canLoop = process.getuid?.() === 0 && spawnSync('losetup', ['--find']).status === 0;
if (!canLoop) console.info('tests of block devices are skipped: they need root and loop devices');
const { signal } = new AbortController();
/** The kernel requires CAP_SYS_RESOURCE to grow a mounted file system. */
const CAP_SYS_RESOURCE = 1n << 24n;
const effective = /CapEff:\s*([0-9a-f]+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
const canResize = (BigInt(`0x${effective}`) & CAP_SYS_RESOURCE) !== 0n;
const MIB = 2 ** 20;
const DEVICE = { name: 'v', devicePath: '/dev/x' };

describe.skipIf(!canLoop)('volumes of a CSI driver with devices', () => {
  let bench: CsiNodeBench;
  beforeEach(async () => {
    bench = await CsiNodeBench.start();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const uidOf = (pod: core.Pod) => pod.metadata.uid ?? '';
  const image = () => bench.driver.state.content(bench.driver.state.get('vol-1'));
  const deviceOf = async (pod: core.Pod) => {
    const container = { name: 'c', volumeDevices: [DEVICE] } as core.Container;
    return (await bench.volumes.volumesFor({ pod, container, env: [], supportsRecursiveReadOnly: false })).devices[0];
  };

  it('are given to containers as block devices, which the next pod finds as they were left', async () => {
    await bench.makeVolume({ volumeMode: 'Block' });
    for (const [name, expected] of [
      ['one', '\0\0\0\0'],
      ['two', 'kept'],
    ] as const) {
      const pod = await bench.makePod(name, { volumeDevices: [DEVICE] });
      await bench.volumes.prepare(pod, signal);
      const device = await deviceOf(pod);
      const path = join(bench.root, 'pods', uidOf(pod), 'volumeDevices/kubernetes.io~csi/pv-1/device');
      expect(device).toEqual({ containerPath: '/dev/x', hostPath: path, permissions: 'mrw' });
      expect((await stat(path)).isBlockDevice()).toBe(true);
      const mapPath = join(bench.root, 'pods', uidOf(pod), 'volumeDevices/kubernetes.io~csi');
      expect(bench.events.splice(0)).toContain(
        `SuccessfulMountVolume: MapVolume.MapPodDevice succeeded for volume "pv-1" volumeMapPath "${mapPath}"`,
      );
      const file = await open(path, 'r+');
      const buffer = Buffer.alloc(4);
      await file.read(buffer, 0, 4, 0);
      expect(buffer.toString()).toBe(expected);
      await file.write('kept', 0);
      await file.sync();
      await file.close();
      await bench.volumes.cleanUp(uidOf(pod));
      expect(await loopDeviceOf(image())).toBeUndefined();
    }
    expect(bench.driver.requests.get('NodeStageVolume')).toMatchObject({ volumeCapability: { block: {} } });
  });

  it('that cannot be prepared are reported as such', async () => {
    await bench.makeVolume({ volumeMode: 'Block' });
    bench.driver.faults.set('NodePublishVolume', 'fail-once');
    const pod = await bench.makePod('one', { volumeDevices: [DEVICE] });
    await bench.volumes.prepare(pod, signal);
    const cause = 'rpc error: code = Internal desc = NodePublishVolume failed';
    expect(bench.events).toContain(`FailedMapVolume: MapVolume.MapPodDevice failed for volume "pv-1" : ${cause}`);
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it('of a kubelet that was killed are unpublished and unstaged by the next one', async () => {
    await bench.makeVolume({ volumeMode: 'Block' });
    const pod = await bench.makePod('one', { volumeDevices: [DEVICE] });
    await bench.volumes.prepare(pod, signal);
    await bench.volumes[Symbol.asyncDispose]();
    bench.openVolumes();
    await bench.volumes.removeOrphans(new Set());
    expect(await loopDeviceOf(image())).toBeUndefined();
  });

  it('are refused as file systems where they are devices, and as devices where they are file systems', async () => {
    await bench.makeVolume({ volumeMode: 'Block' });
    const pod = await bench.makePod('one', { volumeDevices: [DEVICE] });
    await bench.volumes.prepare(pod, signal);
    const container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] } as core.Container;
    await expect(bench.volumes.volumesFor({ pod, container, env: [], supportsRecursiveReadOnly: false })).rejects.toThrow(
      'volume "v" has volumeMode Block, but is specified in volumeMounts',
    );
    await bench.volumes.cleanUp(uidOf(pod));
  });

  /** The state after the resizer's part of an expansion. */
  const enlarge = async (bytes: number) => {
    const { client } = bench.plane;
    const size = String(bytes);
    await client.of(core.PersistentVolumeClaim).patch(CLAIM, { spec: { resources: { requests: { storage: size } } } });
    const volume = bench.driver.state.get('vol-1');
    const file = await open(image(), 'r+');
    await file.truncate(bytes);
    await file.close();
    await bench.driver.state.put({ ...volume, bytes });
    await client.of(core.PersistentVolume).patch({ name: 'pv-1' }, { spec: { capacity: { storage: size } } });
    const conditions = [{ type: 'FileSystemResizePending', status: 'True' }];
    const status = { conditions, allocatedResources: { storage: size }, allocatedResourceStatuses: { storage: 'NodeResizePending' } };
    await client.of(core.PersistentVolumeClaim).patch(CLAIM, { status }, { subresource: 'status' });
  };
  const claimStatus = async () => (await bench.plane.client.of(core.PersistentVolumeClaim).get(CLAIM)).status;

  it.each([
    ['while a pod uses them', true],
    ['before the next pod starts', false],
  ])('grow %s', async (_, isOnline) => {
    await bench.makeVolume({ volumeMode: 'Block', bytes: 16 * MIB });
    const first = await bench.makePod('one', { volumeDevices: [DEVICE] });
    await bench.volumes.prepare(first, signal);
    if (!isOnline) await bench.volumes.cleanUp(uidOf(first));
    await enlarge(64 * MIB);
    const pod = isOnline ? first : await bench.makePod('two', { volumeDevices: [DEVICE] });
    if (!isOnline) await bench.volumes.prepare(pod, signal);
    await bench.eventually(async () => (await claimStatus())?.capacity?.storage === String(64 * MIB));
    expect(await runProgram('blockdev', ['--getsize64', (await deviceOf(pod))?.hostPath ?? ''])).toBe(`${64 * MIB}\n`);
    expect((await claimStatus())?.allocatedResourceStatuses).toBeUndefined();
    expect((await claimStatus())?.conditions ?? []).toEqual([]);
    expect(bench.events).toContain('FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv-1" ');
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it.skipIf(!canResize)('grow with the file system on them, while a pod uses them (needs CAP_SYS_RESOURCE)', async () => {
    await bench.makeVolume({ isImage: true, bytes: 16 * MIB });
    const pod = await bench.makePod('one');
    await bench.volumes.prepare(pod, signal);
    const mounted = join(bench.root, 'pods', uidOf(pod), 'volumes/kubernetes.io~csi/pv-1/mount');
    const before = (await statfs(mounted)).blocks;
    await enlarge(64 * MIB);
    await bench.eventually(async () => (await claimStatus())?.capacity?.storage === String(64 * MIB));
    expect((await statfs(mounted)).blocks).toBeGreaterThan(before * 3);
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it('stay usable when they cannot grow, and say why', async () => {
    await bench.makeVolume({ isImage: true, bytes: 16 * MIB });
    await enlarge(64 * MIB);
    bench.driver.faults.set('NodeExpandVolume', 'fail');
    const pod = await bench.makePod('one');
    await bench.volumes.prepare(pod, signal);
    expect(bench.events).toContain(
      'VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv-1" : rpc error: code = Internal desc = NodeExpandVolume failed',
    );
    expect((await claimStatus())?.allocatedResourceStatuses).toEqual({ storage: 'NodeResizeInProgress' });
    expect((await claimStatus())?.conditions?.at(-1)).toMatchObject({
      type: 'NodeResizeError',
      message: 'failed to expand pvc with rpc error: code = Internal desc = NodeExpandVolume failed',
    });
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it('are left to the driver’s controller when the node’s driver says that they can never grow', async () => {
    await bench.makeVolume({ isImage: true, bytes: 16 * MIB });
    await enlarge(64 * MIB);
    bench.driver.faults.reject('NodeExpandVolume', new GrpcError(grpcStatus.outOfRange, 'too large'));
    const pod = await bench.makePod('one');
    await bench.volumes.prepare(pod, signal);
    expect((await claimStatus())?.allocatedResourceStatuses).toEqual({ storage: 'NodeResizeInfeasible' });
    expect((await claimStatus())?.conditions?.at(-1)?.type).toBe('NodeResizeError');
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it('are measured by their driver', async () => {
    await bench.makeVolume({ isImage: true, bytes: 16 * MIB });
    const pod = await bench.makePod('one');
    await bench.volumes.prepare(pod, signal);
    const [usage] = await bench.volumes.stats(uidOf(pod));
    expect(bench.driver.calls).toContain('NodeGetVolumeStats');
    expect(usage).toMatchObject({ name: 'v', claim: { name: 'c', namespace: 'default' }, isEphemeral: false });
    expect(usage?.capacityBytes).toBeGreaterThan(8 * MIB);
    expect(usage?.capacityBytes).toBeLessThan(16 * MIB);
    bench.driver.faults.set('NodeGetVolumeStats', 'fail');
    expect(await bench.volumes.stats(uidOf(pod))).toEqual([]);
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it.each(['forget', 'garbage'] as const)(
    'of a driver that answers a publication with %s are mounted all the same, later',
    async (fault) => {
      await bench.makeVolume();
      bench.driver.faults.set('NodePublishVolume', fault);
      const pod = await bench.makePod('one');
      await bench.volumes.prepare(pod, signal);
      expect(bench.events[0]).toMatch(
        fault === 'forget'
          ? `driver ${DRIVER} published nothing at`
          : /^FailedMount: MountVolume.SetUp failed for volume "pv-1" : rpc error/,
      );
      expect(await bench.mounter.mountsBelow(join(bench.root, 'pods', uidOf(pod)))).toHaveLength(1);
      await bench.volumes.cleanUp(uidOf(pod));
    },
  );

  it('of a driver that vanished wait until it is back', async () => {
    await bench.makeVolume();
    const pod = await bench.makePod('one');
    await bench.volumes.prepare(pod, signal);
    await bench.driver[Symbol.asyncDispose]();
    await bench.eventually(() => bench.drivers.names().length === 0);
    await expect(bench.volumes.cleanUp(uidOf(pod))).rejects.toThrow(`driver name ${DRIVER} not found`);
    await bench.startDriver();
    await bench.eventually(() => bench.drivers.names().length === 1);
    await bench.volumes.cleanUp(uidOf(pod));
  });
});
