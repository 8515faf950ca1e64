import { afterEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { GrpcError, grpcStatus } from '#base';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const at = (...zones: readonly string[]) => zones.map((zone) => ({ segments: { zone } }));
const allowed = (...values: readonly string[]) => [{ matchLabelExpressions: [{ key: 'zone', values }] }];

describe('the topology of a volume that a CSI driver makes', () => {
  let bench: CsiControllerBench;
  afterEach(() => bench[Symbol.asyncDispose]());

  const start = async (places: readonly string[] = ['a', 'b', 'c']) => {
    bench = await CsiControllerBench.start({ places: places.map((zone) => ({ zone })) });
    await bench.makeNode('node-2', { zone: 'b' });
    await bench.makeNode('node-3', { zone: 'c' });
  };
  const makeClass = (spec: Partial<storage.StorageClass>) =>
    bench.plane.client.of(storage.StorageClass).create({ metadata: { name: 'topological' }, provisioner: DRIVER, ...spec });
  const makeDriverObject = (annotations: Readonly<Record<string, string>>) =>
    bench.plane.client.of(storage.CSIDriver).create({ metadata: { name: DRIVER, annotations }, spec: {} });
  const claims = () => bench.plane.client.of(core.PersistentVolumeClaim);
  const makeClaim = () => bench.createClaim({ storageClassName: 'topological' });
  /** Like the scheduler for the claim's first pod. */
  const selectNode = (name: string) => claims().patch(CLAIM, { metadata: { annotations: { [SELECTED_NODE]: name } } });
  const bound = async () => {
    await bench.until(async () => (await bench.claim()).status?.phase === 'Bound');
    return bench.plane.client.of(core.PersistentVolume).get({ name: (await bench.claim()).spec?.volumeName ?? '' });
  };
  const requirements = () =>
    (bench.server.requests.get('CreateVolume') as { readonly accessibilityRequirements?: object } | undefined)?.accessibilityRequirements;
  const untilEvent = (text: string) => bench.until(async () => (await bench.eventMessages()).includes(text));
  const LATE = { volumeBindingMode: 'WaitForFirstConsumer' } as const;

  it('is any of the cluster when the class binds immediately, starting with the one that the claim’s name says', async () => {
    await start();
    await makeClass({});
    await bench.createClaim({ storageClassName: 'topological' }, { name: 'data-web-2', namespace: 'default' });
    await bench.until(async () => (await bench.plane.client.of(core.PersistentVolume).list()).items.length === 1);
    const [volume] = (await bench.plane.client.of(core.PersistentVolume).list()).items;
    expect(requirements()).toEqual({ requisite: at('a', 'b', 'c'), preferred: at('c', 'a', 'b') });
    expect(volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms).toEqual([
      { matchExpressions: [{ key: 'zone', operator: 'In', values: ['c'] }] },
    ]);
  });

  it('is one that the class allows', async () => {
    await start();
    await makeClass({ allowedTopologies: allowed('b') });
    await makeClaim();
    await bound();
    expect(requirements()).toEqual({ requisite: at('b'), preferred: at('b') });
  });

  it('is not named when the driver does not want it for classes that bind immediately', async () => {
    await start();
    await makeDriverObject({ 'sampan.dev/immediate-topology': 'false' });
    await makeClass({});
    await makeClaim();
    await bound();
    expect(requirements()).toBeUndefined();
  });

  it('is first of all that of the selected node', async () => {
    await start();
    await makeClass(LATE);
    await makeClaim();
    await selectNode('node-2');
    await bound();
    expect(requirements()).toEqual({ requisite: at('a', 'b', 'c'), preferred: at('b', 'c', 'a') });
  });

  it('is that of the selected node only, for a driver with strict topology', async () => {
    await start();
    await makeDriverObject({ 'sampan.dev/strict-topology': 'true' });
    await makeClass({ ...LATE, allowedTopologies: allowed('a', 'b') });
    await makeClaim();
    await selectNode('node-2');
    await bound();
    expect(requirements()).toEqual({ requisite: at('b'), preferred: at('b') });
  });

  it('must be allowed by the class, which the claim’s event says', async () => {
    await start();
    await makeDriverObject({ 'sampan.dev/strict-topology': 'true' });
    await makeClass({ ...LATE, allowedTopologies: allowed('a') });
    await makeClaim();
    await selectNode('node-2');
    const cause = `selected node '"node-2"' topology '[{zone b}]' is not in allowed topologies: [[{zone a}]]`;
    await untilEvent(`ProvisioningFailed: error generating accessibility requirements: ${cause}`);
    expect(bench.server.calls).not.toContain('CreateVolume');
  });

  it('is chosen again by the scheduler when the driver has no room there', async () => {
    await start(['b']);
    await makeDriverObject({ 'sampan.dev/strict-topology': 'true' });
    await makeClass(LATE);
    await makeClaim();
    await selectNode('node-1');
    await bench.until(async () => bench.server.calls.includes('CreateVolume'));
    await bench.until(async () => (await bench.claim()).metadata.annotations?.[SELECTED_NODE] === undefined);
    await untilEvent('ProvisioningFailed: rpc error: code = ResourceExhausted desc = there is no room in any of these places');
    expect((await bench.claim()).metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    await selectNode('node-2');
    expect((await bound()).spec?.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions?.[0]?.values).toEqual(['b']);
  });

  it('is chosen again by the scheduler when the node has no CSINode object', async () => {
    await start();
    await bench.plane.client.of(core.Node).create({ metadata: { name: 'plain' } });
    await makeClass(LATE);
    await makeClaim();
    await selectNode('plain');
    await untilEvent('ProvisioningFailed: failed to get selected CSINode plain: csinode.storage.k8s.io "plain" not found');
    await bench.until(async () => (await bench.claim()).metadata.annotations?.[SELECTED_NODE] === undefined);
  });

  it('is asked for again unchanged while the outcome is uncertain', async () => {
    await start();
    await makeClass(LATE);
    bench.server.faults.reject('CreateVolume', new GrpcError(grpcStatus.aborted, 'under way'));
    await makeClaim();
    await selectNode('node-2');
    await untilEvent('ProvisioningFailed: rpc error: code = Aborted desc = under way');
    await bench.makeNode('node-4', { zone: 'd' });
    bench.server.faults.clear();
    await bound();
    expect(requirements()).toEqual({ requisite: at('a', 'b', 'c'), preferred: at('b', 'c', 'a') });
  });
});
