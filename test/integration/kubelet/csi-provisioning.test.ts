import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { realClock } from '#base';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

describe('a claim that its CSI driver cannot serve', () => {
  let bench: CsiControllerBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const client = () => bench.plane.client;
  const messages = async () => (await client().of(core.Event).list()).items.map(({ reason, message }) => `${reason}: ${message}`);
  const untilEvent = (text: string) => bench.until(async () => (await messages()).includes(text));
  const makeClassOfAttributes = (parameters: Readonly<Record<string, string>>) =>
    client()
      .of(storage.VolumeAttributesClass)
      .create({ metadata: { name: 'odd' }, driverName: DRIVER, parameters });

  it('says that a populator is expected', async () => {
    await bench.createClaim({ dataSourceRef: { apiGroup: 'example.com', kind: 'Backup', name: 'b' } });
    await untilEvent('Provisioning: Assuming an external populator will provision the volume');
    expect(bench.server.calls).not.toContain('CreateVolume');
  });

  it('says that its selector is not supported', async () => {
    await bench.createClaim({ selector: { matchLabels: { a: 'b' } } });
    await untilEvent('ProvisioningFailed: claim Selector is not supported');
  });

  it('is not tried over and over when the request is invalid', async () => {
    await makeClassOfAttributes({ colour: 'red' });
    await bench.createClaim({ volumeAttributesClassName: 'odd' });
    const cause = 'rpc error: code = InvalidArgument desc = parameter colour cannot be changed';
    await untilEvent(`ProvisioningFailed: Volume provisioning failed with infeasible error. Retries will be delayed. ${cause}`);
    await realClock.sleep(2_500);
    expect(bench.server.calls.filter((call) => call === 'CreateVolume')).toHaveLength(1);
  });

  it('can be deleted when the request is invalid', async () => {
    await makeClassOfAttributes({ colour: 'red' });
    await bench.createClaim({ volumeAttributesClassName: 'odd' });
    await bench.until(async () => bench.server.calls.includes('CreateVolume'));
    await client().of(core.PersistentVolumeClaim).delete(CLAIM);
    await bench.until(() => bench.isGone(bench.claim()));
    expect(bench.server.state.all).toEqual([]);
  });

  it('can be deleted when the driver only ever fails', async () => {
    bench.server.faults.set('CreateVolume', 'fail');
    await bench.createClaim();
    await untilEvent('ProvisioningFailed: rpc error: code = Internal desc = CreateVolume failed');
    await client().of(core.PersistentVolumeClaim).delete(CLAIM);
    await bench.until(() => bench.isGone(bench.claim()));
    expect(bench.server.state.all).toEqual([]);
  });
});
