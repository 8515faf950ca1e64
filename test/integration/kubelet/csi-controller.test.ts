import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

describe('the controller duties of a CSI driver', () => {
  let bench: CsiControllerBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  it('are to make a volume for a claim, and to delete it with the claim', async () => {
    const name = await bench.makeBoundClaim();
    const volumes = bench.plane.client.of(core.PersistentVolume);
    expect((await volumes.get({ name })).spec).toMatchObject({
      capacity: { storage: '1Gi' },
      csi: { driver: DRIVER, volumeHandle: `vol-${name}`, fsType: 'ext4', volumeAttributes: { made: 'here' } },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] } },
    });
    expect(bench.server.requests.get('CreateVolume')).toMatchObject({
      parameters: { type: 'ssd' },
      capacityRange: { requiredBytes: 2 ** 30 },
    });
    await bench.plane.client.of(core.PersistentVolumeClaim).delete(CLAIM);
    await bench.until(() => bench.isGone(volumes.get({ name })));
    expect(bench.server.state.all).toEqual([]);
  });

  it('are to protect the object of a volume that is deleted with its claim', async () => {
    const name = await bench.makeBoundClaim();
    const volumes = bench.plane.client.of(core.PersistentVolume);
    const setPolicy = (persistentVolumeReclaimPolicy: string) => volumes.patch({ name }, { spec: { persistentVolumeReclaimPolicy } });
    const isProtected = async () =>
      (await volumes.get({ name })).metadata.finalizers?.includes('external-provisioner.volume.kubernetes.io/finalizer') === true;
    expect(await isProtected()).toBe(true);
    await setPolicy('Retain');
    await bench.until(async () => !(await isProtected()));
    await setPolicy('Delete');
    await bench.until(isProtected);
  });

  it.each(['fail-once', 'fail-after-acting'] as const)('make one volume when the driver should %s', async (fault) => {
    bench.server.faults.set('CreateVolume', fault);
    await bench.makeBoundClaim();
    expect(bench.server.state.all).toHaveLength(1);
    const events = await bench.plane.client.of(core.Event).list({ namespace: 'default' });
    expect(events.items.map(({ reason }) => reason)).toContain('ProvisioningFailed');
  });

  it('are to attach what a pod needs to its node, and to detach it when the pod is gone', async () => {
    const name = await bench.makeBoundClaim();
    const { client } = bench.plane;
    const attachments = client.of(storage.VolumeAttachment);
    bench.server.faults.set('ControllerPublishVolume', 'fail-after-acting');
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    const pod = { name: 'p', namespace: 'default' };
    const containers = [{ name: 'c', image: 'x' }];
    await client.of(core.Pod).create({ metadata: pod, spec: { nodeName: 'node-1', containers, volumes } } as never);
    await bench.until(async () => (await attachments.list()).items[0]?.status?.attached === true);
    expect((await attachments.list()).items[0]?.status?.attachmentMetadata).toEqual({ device: `/dev/vol-${name}` });
    const attached = [{ name: `kubernetes.io/csi/${DRIVER}^vol-${name}`, devicePath: '' }];
    await bench.until(
      async () => (await client.of(core.Node).get({ name: 'node-1' })).status?.volumesAttached?.[0]?.name === attached[0]?.name,
    );
    expect(bench.server.state.all[0]?.nodes).toEqual(['id-1']);
    // Like a kubelet that has it mounted.
    const inUse = (volumesInUse: readonly string[]) =>
      client.of(core.Node).patch({ name: 'node-1' }, { status: { volumesInUse } }, { subresource: 'status' });
    await inUse(attached.map((volume) => volume.name));
    await client.of(core.Pod).delete(pod, { gracePeriodSeconds: 0 });
    await bench.plane.clock.advance(5_000);
    expect((await attachments.list()).items).toHaveLength(1);
    await inUse([]);
    await bench.until(async () => (await attachments.list()).items.length === 0);
    expect(bench.server.state.all[0]?.nodes).toEqual([]);
  });
});
