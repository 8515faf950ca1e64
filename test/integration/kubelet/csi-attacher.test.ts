import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { GrpcError, grpcStatus } from '#base';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

const FINALIZER = 'external-attacher/disk-example-com';

describe('the attachment of a CSI volume', () => {
  let bench: CsiControllerBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const client = () => bench.plane.client;
  const attachments = () => client().of(storage.VolumeAttachment);
  const volumes = () => client().of(core.PersistentVolume);
  const attachment = () => attachments().get({ name: 'va' });
  const attach = (source: storage.VolumeAttachment['spec']['source']) =>
    attachments().create({ metadata: { name: 'va' }, spec: { attacher: DRIVER, nodeName: 'node-1', source } });
  const untilAttached = () => bench.until(async () => (await attachment()).status?.attached === true);
  const detach = async () => {
    await attachments().delete({ name: 'va' });
    await bench.until(() => bench.isGone(attachment()));
  };

  it('keeps the object of the volume until it is detached', async () => {
    const name = await bench.makeBoundClaim();
    await attach({ persistentVolumeName: name });
    await untilAttached();
    expect((await volumes().get({ name })).metadata.finalizers).toContain(FINALIZER);
    expect((await attachment()).metadata).toMatchObject({
      finalizers: [FINALIZER],
      annotations: { 'csi.alpha.kubernetes.io/node-id': 'id-1' },
    });
    await volumes().delete({ name });
    await client().of(core.PersistentVolumeClaim).delete(CLAIM);
    await bench.until(() => bench.isGone(bench.claim()));
    await bench.plane.clock.advance(10_000);
    expect((await volumes().get({ name })).metadata.finalizers).toContain(FINALIZER);
    await detach();
    await bench.until(() => bench.isGone(volumes().get({ name })));
    expect(bench.server.state.all).toEqual([]);
  });

  it('is refused for a volume that is being deleted', async () => {
    const name = await bench.makeBoundClaim();
    await volumes().delete({ name });
    await attach({ persistentVolumeName: name });
    await bench.until(async () => (await attachment()).status?.attachError !== undefined);
    expect((await attachment()).status?.attachError?.message).toBe(`PersistentVolume "${name}" is marked for deletion`);
    // Nothing was attached, so nothing must be detached.
    expect((await attachment()).metadata.finalizers ?? []).toEqual([]);
    await detach();
  });

  it('says what the driver answered, with its code, until the driver attaches it', async () => {
    const name = await bench.makeBoundClaim();
    bench.server.faults.reject('ControllerPublishVolume', new GrpcError(grpcStatus.resourceExhausted, 'no slot is free'));
    await attach({ persistentVolumeName: name });
    await bench.until(async () => (await attachment()).status?.attachError !== undefined);
    expect((await attachment()).status?.attachError).toMatchObject({
      message: 'rpc error: code = ResourceExhausted desc = no slot is free',
      errorCode: grpcStatus.resourceExhausted,
    });
    bench.server.faults.clear();
    await untilAttached();
    expect((await attachment()).status?.attachError).toBeUndefined();
  });

  it('ends by the node id in the attachment when the node has no CSINode object any more', async () => {
    const name = await bench.makeBoundClaim();
    await attach({ persistentVolumeName: name });
    await untilAttached();
    await client().of(storage.CSINode).delete({ name: 'node-1' });
    await detach();
    expect(bench.server.state.all[0]?.nodes).toEqual([]);
  });

  it('may be of a volume without an object', async () => {
    await bench.makeBoundClaim();
    const volumeHandle = bench.server.state.all[0]?.id ?? '';
    await attach({
      inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: DRIVER, volumeHandle } },
    });
    await untilAttached();
    expect(bench.server.state.all[0]?.nodes).toEqual(['id-1']);
    await detach();
    expect(bench.server.state.all[0]?.nodes).toEqual([]);
  });
});
