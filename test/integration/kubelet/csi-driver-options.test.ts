import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { realClock, VirtualClock } from '#base';
import { attachmentName } from '../../../src/kubelet/csi/volume-data.ts';
import { PodRejectedError } from '../../../src/kubelet/pods/hooks/pod-rejected-error.ts';
import { SeLinux } from '../../../src/kubelet/volumes/se-linux.ts';
import { CsiNodeBench, DRIVER } from './csi-node-bench.ts';

const isRoot = process.getuid?.() === 0;
const { signal } = new AbortController();
const uidOf = (pod: core.Pod) => pod.metadata.uid ?? '';
const MOUNT = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };

describe.skipIf(!isRoot)('what a CSIDriver asks of the kubelet (needs root: it mounts)', () => {
  let bench: CsiNodeBench;
  beforeEach(async () => {
    bench = await CsiNodeBench.start();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const published = () => bench.driver.requests.get('NodePublishVolume') as { readonly volumeContext: Readonly<Record<string, string>> };
  const targetOf = (pod: core.Pod) => join(bench.root, 'pods', uidOf(pod), 'volumes/kubernetes.io~csi/pv-1/mount');

  it('podInfoOnMount: the pod’s name, namespace, uid and service account', async () => {
    await bench.makeVolume({ driverSpec: { attachRequired: false, podInfoOnMount: true } });
    const pod = await bench.makePod('one', MOUNT, { serviceAccountName: 'default' });
    await bench.volumes.prepare(pod, signal);
    expect(published().volumeContext).toEqual({
      'csi.storage.k8s.io/pod.name': 'one',
      'csi.storage.k8s.io/pod.namespace': 'default',
      'csi.storage.k8s.io/pod.uid': uidOf(pod),
      'csi.storage.k8s.io/serviceAccount.name': 'default',
      'csi.storage.k8s.io/ephemeral': 'false',
    });
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it.each([
    [true, 3],
    [false, 1],
  ])('requiresRepublish %s: published so often within two minutes: %i', async (requiresRepublish, count) => {
    const clock = new VirtualClock({ startMs: realClock.now() });
    await bench.volumes[Symbol.asyncDispose]();
    bench.openVolumes({ clock });
    await bench.makeVolume({ driverSpec: { attachRequired: false, requiresRepublish } });
    const pod = await bench.makePod('one');
    await bench.volumes.prepare(pod, signal);
    const publications = () => bench.driver.calls.filter((call) => call === 'NodePublishVolume').length;
    for (let minute = 1; minute <= 2; minute++) {
      await clock.advance(60_000);
      if (requiresRepublish) await expect.poll(publications).toBe(minute + 1);
      // The next publication is scheduled when the last one is complete.
      await expect.poll(() => !requiresRepublish || clock.pendingTimers > 0).toBe(true);
    }
    expect(publications()).toBe(count);
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it.each<[string, { readonly fsGroupPolicy: string; readonly accessMode?: string; readonly fsType?: string }, number]>([
    ['None: files keep their group', { fsGroupPolicy: 'None' }, 0],
    ['File: the group is set, whatever the access mode', { fsGroupPolicy: 'File', accessMode: 'ReadWriteMany', fsType: '' }, 2000],
    ['ReadWriteOnceWithFSType: the group is set', { fsGroupPolicy: 'ReadWriteOnceWithFSType' }, 2000],
    ['ReadWriteOnceWithFSType: not of volumes without a type', { fsGroupPolicy: 'ReadWriteOnceWithFSType', fsType: '' }, 0],
    ['ReadWriteOnceWithFSType: not of shared volumes', { fsGroupPolicy: 'ReadWriteOnceWithFSType', accessMode: 'ReadWriteMany' }, 0],
  ])('fsGroupPolicy %s', async (_, { fsGroupPolicy, ...volume }, group) => {
    await bench.makeVolume({ ...volume, driverSpec: { attachRequired: false, fsGroupPolicy } });
    const pod = await bench.makePod('one', MOUNT, { securityContext: { fsGroup: 2000 } });
    await bench.volumes.prepare(pod, signal);
    expect((await stat(targetOf(pod))).gid).toBe(group);
    await bench.volumes.cleanUp(uidOf(pod));
  });

  it.each([
    [
      'true: volumes of one pod are mounted with its label',
      true,
      'ReadWriteOncePod',
      ['context="system_u:object_r:container_file_t:s0:c1,c2"'],
    ],
    ['true: others are not', true, 'ReadWriteOnce', []],
    ['false: none is', false, 'ReadWriteOncePod', []],
  ])('seLinuxMount %s', async (_, seLinuxMount, accessMode, mountFlags) => {
    const machine = join(bench.root, 'machine');
    await mkdir(join(machine, 'sys/fs/selinux'), { recursive: true });
    await mkdir(join(machine, 'etc/selinux/targeted/contexts'), { recursive: true });
    await writeFile(join(machine, 'sys/fs/selinux/enforce'), '1');
    await writeFile(join(machine, 'etc/selinux/targeted/contexts/lxc_contexts'), 'file = "system_u:object_r:container_file_t:s0"\n');
    await bench.volumes[Symbol.asyncDispose]();
    bench.openVolumes({ seLinux: new SeLinux(machine) });
    await bench.makeVolume({ accessMode, driverSpec: { attachRequired: false, seLinuxMount } });
    const pod = await bench.makePod('one', MOUNT, { securityContext: { seLinuxOptions: { level: 's0:c1,c2' } } });
    await bench.volumes.prepare(pod, signal);
    for (const call of ['NodeStageVolume', 'NodePublishVolume'])
      expect(bench.driver.requests.get(call)).toMatchObject({ volumeCapability: { mount: { mountFlags } } });
    await bench.volumes.cleanUp(uidOf(pod));
  });

  describe('ReadWriteOncePod', () => {
    const IN_USE = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
    const isRefused = async (pod: core.Pod) => {
      const stop = new AbortController();
      const prepared = bench.volumes.prepare(pod, stop.signal);
      await expect
        .poll(() => bench.events, { timeout: 30_000 })
        .toContain(`FailedMount: MountVolume.SetUp failed for volume "pv-1" : ${IN_USE}`);
      stop.abort(new Error('enough'));
      await expect(prepared).rejects.toThrow('enough');
    };

    it('one pod at a time has the volume on the node, even if both name their node', async () => {
      await bench.makeVolume({ accessMode: 'ReadWriteOncePod' });
      const [one, two] = [await bench.makePod('one'), await bench.makePod('two')];
      await bench.volumes.prepare(one, signal);
      await isRefused(two);
      await bench.volumes.cleanUp(uidOf(one));
      await bench.volumes.prepare(two, signal);
      expect((await stat(targetOf(two))).isDirectory()).toBe(true);
      await bench.volumes.cleanUp(uidOf(two));
    });

    it('a kubelet that starts again knows which pod has it', async () => {
      await bench.makeVolume({ accessMode: 'ReadWriteOncePod' });
      const [one, two] = [await bench.makePod('one'), await bench.makePod('two')];
      await bench.volumes.prepare(one, signal);
      await bench.volumes[Symbol.asyncDispose]();
      bench.openVolumes();
      await isRefused(two);
      await bench.volumes.prepare(one, signal);
      await bench.volumes.cleanUp(uidOf(one));
      await bench.volumes.prepare(two, signal);
      await bench.volumes.cleanUp(uidOf(two));
    });
  });

  describe('nodeAllocatableUpdatePeriodSeconds', () => {
    const limit = async () => (await bench.plane.client.of(storage.CSINode).get({ name: 'node-1' })).spec?.drivers?.[0]?.allocatable?.count;
    const setLimit = (maxVolumesPerNode: number) =>
      bench.driver.faults.change('NodeGetInfo', (info: object) => ({ ...info, maxVolumesPerNode }));
    const infoCalls = () => bench.driver.calls.filter((call) => call === 'NodeGetInfo').length;
    const setPeriod = (seconds: number) =>
      bench.plane.client.of(storage.CSIDriver).patch({ name: DRIVER }, { spec: { nodeAllocatableUpdatePeriodSeconds: seconds } });
    const pendingTimers = () => bench.limitsClock.pendingTimers;

    it('the driver is asked so often how many volumes the node can have, which CSINode then says', async () => {
      await bench.makeVolume({ driverSpec: { attachRequired: false, nodeAllocatableUpdatePeriodSeconds: 600 } });
      await expect.poll(pendingTimers).toBe(1);
      setLimit(5);
      await bench.limitsClock.advance(599_000);
      expect(infoCalls()).toBe(1);
      await bench.limitsClock.advance(1_000);
      await expect.poll(limit).toBe(5);
      setLimit(6);
      await setPeriod(10);
      const until = async () => {
        await bench.limitsClock.advance(10_000);
        return limit();
      };
      await expect.poll(until).toBe(6);
    });

    it('a driver without it is asked once', async () => {
      await bench.makeVolume({ driverSpec: { attachRequired: false, nodeAllocatableUpdatePeriodSeconds: 600 } });
      await expect.poll(pendingTimers).toBe(1);
      await bench.plane.client.of(storage.CSIDriver).delete({ name: DRIVER });
      await expect.poll(pendingTimers).toBe(0);
      expect(infoCalls()).toBe(1);
    });

    it.each([
      ['fails the pod when the driver has no room on the node', 600, 8, 'Node has reached its volume attachment limit, rejecting pod. '],
      ['does not fail the pod when the driver fails otherwise', 600, 13, 'Unable to attach or mount volumes: '],
      ['does not fail the pod of a driver without it', undefined, 8, 'Unable to attach or mount volumes: '],
    ])('%s', async (_, nodeAllocatableUpdatePeriodSeconds, errorCode, text) => {
      const clock = new VirtualClock({ startMs: realClock.now() });
      await bench.volumes[Symbol.asyncDispose]();
      bench.openVolumes({ clock });
      await bench.makeVolume({
        driverSpec: { attachRequired: true, ...(nodeAllocatableUpdatePeriodSeconds && { nodeAllocatableUpdatePeriodSeconds }) },
      });
      const name = attachmentName('vol-1', DRIVER, 'node-1');
      const source = { persistentVolumeName: 'pv-1' };
      const attachments = bench.plane.client.of(storage.VolumeAttachment);
      // Nothing but its finalizer keeps it: no pod of the node needs the volume.
      const metadata = { name, finalizers: ['example.com/attacher'] };
      await attachments.create({ metadata, spec: { attacher: DRIVER, nodeName: 'node-1', source } } as never);
      const attachError = { message: 'full', errorCode, time: new Date(realClock.now()).toISOString() };
      await attachments.patch({ name }, { status: { attached: false, attachError } }, { subresource: 'status' });
      setLimit(3);
      const pod = await bench.makePod('one');
      let outcome: Error | undefined;
      const prepared = bench.volumes.prepare(pod, signal).catch((error: Error) => {
        outcome = error;
      });
      const ended = async () => {
        await clock.advance(10_000);
        return outcome?.message;
      };
      await expect
        .poll(ended)
        .toBe(`${text}unmounted volumes=[v], unattached volumes=[v], failed to process volumes=[]: context deadline exceeded`);
      await prepared;
      const isRejected = outcome instanceof PodRejectedError;
      expect({ isRejected, limit: await limit() }).toEqual(
        text.startsWith('Node') ? { isRejected: true, limit: 3 } : { isRejected: false },
      );
      await bench.volumes.cleanUp(uidOf(pod));
    });
  });

  describe('attachRequired', () => {
    const attachments = () => bench.plane.client.of(storage.VolumeAttachment);
    const attach = async () => {
      const metadata = { name, finalizers: ['example.com/attacher'] };
      await attachments().create({
        metadata,
        spec: { attacher: DRIVER, nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } },
      } as never);
      await attachments().patch({ name }, { status: { attached: true, attachmentMetadata: { lun: '3' } } }, { subresource: 'status' });
    };
    const nameAttached = (names: readonly string[]) => {
      const volumesAttached = names.map((name) => ({ name, devicePath: '' }));
      return bench.plane.client.of(core.Node).patch({ name: 'node-1' }, { status: { volumesAttached } }, { subresource: 'status' });
    };
    const inUse = async () => (await bench.plane.client.of(core.Node).get({ name: 'node-1' })).status?.volumesInUse ?? [];
    const uniqueName = `kubernetes.io/csi/${DRIVER}^vol-1`;
    const name = attachmentName('vol-1', DRIVER, 'node-1');

    it('the node says that it uses a volume, and mounts it when the node’s status and the attachment say that it is attached', async () => {
      await bench.makeVolume({ driverSpec: { attachRequired: true } });
      const pod = await bench.makePod('one');
      const prepared = bench.volumes.prepare(pod, signal);
      await expect.poll(inUse).toEqual([uniqueName]);
      await nameAttached([uniqueName]);
      await expect.poll(() => bench.events.find((text) => text.includes('WaitForAttach'))).toBeDefined();
      await attach();
      await prepared;
      expect(bench.driver.requests.get('NodeStageVolume')).toMatchObject({ publishContext: { lun: '3' } });
      await bench.volumes.cleanUp(uidOf(pod));
      expect(await inUse()).toEqual([]);
    });

    it('a volume that is attached, and that the node’s status does not name, is not mounted: its detachment may be under way', async () => {
      await bench.makeVolume({ driverSpec: { attachRequired: true } });
      await attach();
      const stop = new AbortController();
      const pod = await bench.makePod('one');
      const prepared = bench.volumes.prepare(pod, stop.signal);
      await expect.poll(inUse).toEqual([uniqueName]);
      stop.abort(new Error('enough'));
      await expect(prepared).rejects.toThrow('enough');
      // Not a failure to report: a volume may be attached some time after its pod was bound.
      expect(bench.events).toEqual([]);
      expect(bench.driver.calls).not.toContain('NodeStageVolume');
      await bench.volumes.cleanUp(uidOf(pod));
    });

    it('a volume whose attachment is being deleted is not mounted until it is attached again', async () => {
      await bench.makeVolume({ driverSpec: { attachRequired: true } });
      await attach();
      await attachments().delete({ name });
      const pod = await bench.makePod('one');
      const prepared = bench.volumes.prepare(pod, signal);
      await expect.poll(inUse).toEqual([uniqueName]);
      expect(bench.driver.calls).not.toContain('NodeStageVolume');
      await attachments().patch({ name }, { metadata: { finalizers: null } });
      await attach();
      await nameAttached([uniqueName]);
      await prepared;
      await bench.volumes.cleanUp(uidOf(pod));
    });

    it('false: the node does not name the volume as used, and mounts it without an attachment', async () => {
      await bench.makeVolume();
      const pod = await bench.makePod('one');
      await bench.volumes.prepare(pod, signal);
      expect(await inUse()).toEqual([]);
      await bench.volumes.cleanUp(uidOf(pod));
    });
  });
});
