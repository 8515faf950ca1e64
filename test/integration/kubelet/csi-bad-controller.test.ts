import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { CLAIM, CsiControllerBench } from './csi-controller-bench.ts';

interface Created {
  readonly volume: { readonly capacityBytes: number; readonly volumeId: string };
}

describe('a CSI driver whose controller answers wrongly', () => {
  let bench: CsiControllerBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const change = (answer: (volume: Created['volume']) => object | undefined) =>
    bench.server.faults.change<Created>('CreateVolume', ({ volume }) => ({ volume: answer(volume) }));
  const failures = async () => {
    const { items } = await bench.plane.client.of(core.Event).list({ namespace: 'default' });
    return items.filter(({ reason }) => reason === 'ProvisioningFailed').map(({ message }) => message);
  };
  const makeFailingClaim = async (spec: object = {}) => {
    await bench.createClaim(spec);
    await bench.until(async () => (await failures()).length > 0);
    return (await failures())[0];
  };
  const deleteClaim = async () => {
    await bench.plane.client.of(core.PersistentVolumeClaim).delete(CLAIM);
    await bench.until(() => bench.isGone(bench.claim()));
  };

  it.each([
    [
      'a volume that is too small',
      (v: Created['volume']) => ({ ...v, capacityBytes: 5 }),
      'created volume capacity 5 less than requested capacity 1073741824',
    ],
    ['a volume without an id', (v: Created['volume']) => ({ ...v, volumeId: '' }), 'the driver made a volume without an id'],
    ['no volume', () => undefined, 'the driver made a volume without an id'],
    [
      'more bytes than a message may have',
      (v: Created['volume']) => ({ ...v, volumeContext: { a: 'x'.repeat(17 << 20) } }),
      'rpc error: code = ResourceExhausted desc = received message larger than max (17825875 vs. 4194304)',
    ],
  ])('by %s: the claim has an event, and one volume when the driver is right again', async (_, answer, text) => {
    change(answer);
    expect(await makeFailingClaim()).toBe(text);
    bench.server.faults.clear();
    await bench.until(async () => (await bench.claim()).status?.phase === 'Bound');
    expect(bench.server.state.all).toHaveLength(1);
  });

  it('by a volume that no object can name: the claim has an event, and nothing is left when it is deleted', async () => {
    change((volume) => ({ ...volume, volumeContext: { a: 'x'.repeat(3 << 20) } }));
    expect(await makeFailingClaim()).toMatch(/trying to send message larger than max \(\d+ vs. 2097152\)$/);
    await deleteClaim();
    expect(bench.server.state.all).toEqual([]);
  });

  it('by an empty volume where a copy was asked for: the claim has an event, and nothing is left when it is deleted', async () => {
    const source = { name: 'source', namespace: 'default' };
    const original = await bench.makeBoundClaim({}, source);
    change((volume) => ({ ...volume, contentSource: undefined }));
    const dataSource = { kind: 'PersistentVolumeClaim', name: source.name };
    expect(await makeFailingClaim({ dataSource })).toBe('volume content source missing');
    await deleteClaim();
    expect(bench.server.state.all.map(({ name }) => name)).toEqual([original]);
  });

  it('by a capacity beyond all measure: the volume has it, and the claim is bound', async () => {
    change((volume) => ({ ...volume, capacityBytes: Number.MAX_SAFE_INTEGER }));
    const name = await bench.makeBoundClaim();
    const volume = await bench.plane.client.of(core.PersistentVolume).get({ name });
    expect(volume.spec?.capacity).toEqual({ storage: String(Number.MAX_SAFE_INTEGER) });
  });

  it('by none at all: it can be stopped meanwhile, and the claim is bound when the driver answers again', async () => {
    bench.server.faults.set('CreateVolume', 'hang');
    await bench.createClaim();
    await bench.until(async () => bench.server.calls.includes('CreateVolume'));
    await bench.controller[Symbol.asyncDispose]();
    bench.server.faults.clear();
    await bench.startController();
    await bench.until(async () => (await bench.claim()).status?.phase === 'Bound');
    expect(bench.server.state.all).toHaveLength(1);
  });
});
