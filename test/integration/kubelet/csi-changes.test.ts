import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { GrpcError, grpcStatus } from '#base';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

describe('a change of a volume that its CSI driver does not carry out', () => {
  let bench: CsiControllerBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start({ capacityBytes: 8 * 2 ** 30 });
    await bench.makeBoundClaim();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const client = () => bench.plane.client;
  const request = (spec: object) => client().of(core.PersistentVolumeClaim).patch(CLAIM, { spec });
  const requestSize = (size: string) => request({ resources: { requests: { storage: size } } });
  const status = async () => (await bench.claim()).status;
  const condition = async (name: string) => (await status())?.conditions?.find(({ type }) => type === name);
  const untilMessage = (text: string) => bench.until(async () => (await bench.eventMessages()).includes(text));
  const reject = (call: string, code: keyof typeof grpcStatus, text: string) =>
    bench.server.faults.reject(call, new GrpcError(grpcStatus[code], text));
  const requestedBytes = () =>
    (bench.server.requests.get('ControllerExpandVolume') as { readonly capacityRange?: { readonly requiredBytes: number } }).capacityRange
      ?.requiredBytes;

  describe('in size', () => {
    it('that is uncertain is repeated, though the claim asks for less', async () => {
      const [volume] = (await client().of(core.PersistentVolume).list()).items;
      reject('ControllerExpandVolume', 'aborted', 'under way');
      await requestSize('4Gi');
      await untilMessage(
        `VolumeResizeFailed: resize volume "${volume?.metadata.name}" by resizer "${DRIVER}" failed: rpc error: code = Aborted desc = under way`,
      );
      await requestSize('2Gi');
      bench.server.faults.clear();
      await bench.until(async () => (await status())?.capacity?.storage === '4Gi');
      expect(requestedBytes()).toBe(4 * 2 ** 30);
      expect((await status())?.conditions ?? []).toEqual([]);
    });

    it('that has failed can be replaced by a smaller one', async () => {
      reject('ControllerExpandVolume', 'internal', 'broken');
      await requestSize('4Gi');
      await bench.until(async () => (await condition('ControllerResizeError')) !== undefined);
      expect((await condition('ControllerResizeError'))?.message).toBe(
        'failed to expand pvc with rpc error: code = Internal desc = broken',
      );
      expect((await status())?.allocatedResourceStatuses?.storage).toBe('ControllerResizeInProgress');
      await requestSize('2Gi');
      bench.server.faults.clear();
      await bench.until(async () => (await status())?.capacity?.storage === '2Gi');
      expect((await status())?.allocatedResources?.storage).toBe('2Gi');
      expect((await status())?.conditions ?? []).toEqual([]);
    });

    it('that can never be can be replaced by a smaller one at once', async () => {
      await requestSize('100Gi');
      await bench.until(async () => (await status())?.allocatedResourceStatuses?.storage === 'ControllerResizeInfeasible');
      await requestSize('2Gi');
      await bench.until(async () => (await status())?.capacity?.storage === '2Gi');
      expect((await status())?.allocatedResourceStatuses).toBeUndefined();
    });

    it('waits for the pods that use the volume when the driver enlarges unused ones only', async () => {
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
      const pod = { name: 'p', namespace: 'default' };
      await client()
        .of(core.Pod)
        .create({ metadata: pod, spec: { containers: [{ name: 'c', image: 'x' }], volumes } } as never);
      reject('ControllerExpandVolume', 'failedPrecondition', 'in use');
      await requestSize('2Gi');
      await untilMessage(
        `VolumeResizeFailed: Unable to expand default/c because CSI driver ${DRIVER} only supports offline expansion and volume is currently in-use`,
      );
    });
  });

  describe('in attributes', () => {
    const makeClass = (name: string, parameters: Readonly<Record<string, string>>) =>
      client().of(storage.VolumeAttributesClass).create({ metadata: { name }, driverName: DRIVER, parameters });
    const name = (volumeAttributesClassName: string) => request({ volumeAttributesClassName });
    const current = async () => (await status())?.currentVolumeAttributesClassName;

    it('that is uncertain is finished before another one begins', async () => {
      await makeClass('gold', { iops: '9000' });
      await makeClass('silver', { iops: '500' });
      reject('ControllerModifyVolume', 'aborted', 'under way');
      await name('gold');
      await untilMessage('VolumeModifyFailed: rpc error: code = Aborted desc = under way. Still modifying to VAC gold');
      expect(await condition('ModifyingVolume')).toMatchObject({ message: 'Modifying volume to "gold" is still in progress.' });
      expect(await condition('ModifyVolumeError')).toMatchObject({ reason: 'Aborted', message: 'under way' });
      await name('silver');
      await bench.plane.clock.advance(5_000);
      expect((await status())?.modifyVolumeStatus).toEqual({ targetVolumeAttributesClassName: 'gold', status: 'InProgress' });
      bench.server.faults.clear();
      await bench.until(async () => (await current()) === 'silver');
      expect((await status())?.conditions ?? []).toEqual([]);
      const { items } = await client().of(core.PersistentVolume).list();
      expect(items[0]?.spec?.volumeAttributesClassName).toBe('silver');
    });

    it('that can never be is taken back to the class before', async () => {
      await makeClass('gold', { iops: '9000' });
      await makeClass('odd', { colour: 'red' });
      await name('gold');
      await bench.until(async () => (await current()) === 'gold');
      await name('odd');
      await bench.until(async () => (await status())?.modifyVolumeStatus?.status === 'Infeasible');
      expect(await condition('ModifyVolumeError')).toMatchObject({
        reason: 'InvalidArgument',
        message: 'parameter colour cannot be changed',
      });
      expect(await condition('ModifyingVolume')).toMatchObject({ message: 'Modifying volume to "odd" failed. Waiting for retry.' });
      await name('gold');
      await bench.until(async () => (await status())?.modifyVolumeStatus === undefined);
      expect(await current()).toBe('gold');
      expect((await status())?.conditions ?? []).toEqual([]);
      expect(bench.server.state.all[0]?.mutableParameters).toEqual({ iops: '9000' });
    });

    it('is pending while its class does not exist', async () => {
      await name('gold');
      await untilMessage('VolumeModifyFailed: VAC "gold" does not exist.');
      await bench.until(async () => (await status())?.modifyVolumeStatus?.status === 'Pending');
      expect((await status())?.conditions ?? []).toEqual([]);
      await makeClass('gold', { iops: '9000' });
      await bench.until(async () => (await current()) === 'gold');
    });
  });
});
