import { afterEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { GrpcError, grpcStatus } from '#base';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

const LATE = 'WaitForFirstConsumer';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

describe('the storage capacity of a CSI driver', () => {
  let bench: CsiControllerBench;
  afterEach(() => bench[Symbol.asyncDispose]());

  const start = async (options: Parameters<typeof CsiControllerBench.start>[0] = {}) => {
    bench = await CsiControllerBench.start({ capacityBytes: 8 * 2 ** 30, ...options });
    await bench.plane.client.of(storage.CSIDriver).create({ metadata: { name: DRIVER }, spec: { storageCapacity: true } });
  };
  const makeClass = (name: string, spec: Partial<storage.StorageClass> = {}) =>
    bench.plane.client.of(storage.StorageClass).create({ metadata: { name }, provisioner: DRIVER, volumeBindingMode: LATE, ...spec });
  const published = async () =>
    (await bench.plane.client.of(storage.CSIStorageCapacity).list({ namespace: 'kube-system' })).items
      .map(({ storageClassName, nodeTopology, capacity }) => `${storageClassName} ${JSON.stringify(nodeTopology)} ${capacity}`)
      .sort();
  const untilPublished = (...texts: readonly string[]) =>
    bench.until(async () => JSON.stringify(await published()) === JSON.stringify(texts));

  it('is published for each class and topology, and follows volumes and classes', async () => {
    await start();
    await makeClass('late');
    await untilPublished('late {"matchLabels":{"zone":"a"}} 8Gi');
    await bench.makeBoundClaim();
    await untilPublished('late {"matchLabels":{"zone":"a"}} 7Gi');
    await bench.plane.client.of(storage.StorageClass).delete({ name: 'late' });
    await untilPublished();
  });

  it('is not published for classes that bind immediately: the scheduler does not place their volumes', async () => {
    await start();
    await makeClass('now', { volumeBindingMode: 'Immediate' });
    await makeClass('late');
    await untilPublished('late {"matchLabels":{"zone":"a"}} 8Gi');
  });

  it('is that of every node, for a driver without topology', async () => {
    await start();
    const csiNodes = bench.plane.client.of(storage.CSINode);
    await csiNodes.delete({ name: 'node-1' });
    await csiNodes.create({ metadata: { name: 'node-1' }, spec: { drivers: [{ name: DRIVER, nodeID: 'id-1' }] } });
    await makeClass('late');
    await untilPublished('late {} 8Gi');
  });

  it('waits for the labels of a node', async () => {
    await start({ topology: { zone: 'b', rack: '1' } });
    const { client } = bench.plane;
    await client.of(core.Node).create({ metadata: { name: 'node-2', labels: { zone: 'b' } } });
    const drivers = [{ name: DRIVER, nodeID: 'id-2', topologyKeys: ['zone', 'rack'] }];
    await client.of(storage.CSINode).create({ metadata: { name: 'node-2' }, spec: { drivers } });
    await makeClass('late');
    await untilPublished('late {"matchLabels":{"zone":"a"}} 0');
    await client.of(core.Node).patch({ name: 'node-2' }, { metadata: { labels: { rack: '1' } } });
    await untilPublished('late {"matchLabels":{"rack":"1","zone":"b"}} 8Gi', 'late {"matchLabels":{"zone":"a"}} 0');
  });

  it('of a class that the driver rejects does not hold up that of others', async () => {
    await start();
    bench.server.faults.change('GetCapacity', (answer) => {
      const { parameters } = bench.server.requests.get('GetCapacity') as { readonly parameters: Readonly<Record<string, string>> };
      if (parameters.tier !== undefined) throw new GrpcError(grpcStatus.invalidArgument, `no tier is called ${parameters.tier}`);
      return answer;
    });
    await makeClass('bad', { parameters: { tier: 'none' } });
    await makeClass('late', { parameters: { type: 'ssd', 'csi.storage.k8s.io/fstype': 'xfs' } });
    await untilPublished('late {"matchLabels":{"zone":"a"}} 8Gi');
  });

  it('is asked for with all parameters of the class, for any kind of volume, as upstream does', async () => {
    await start();
    const parameters = { type: 'ssd', 'csi.storage.k8s.io/fstype': 'xfs' };
    await makeClass('late', { parameters });
    await untilPublished('late {"matchLabels":{"zone":"a"}} 8Gi');
    const accessibleTopology = { segments: { zone: 'a' } };
    expect(bench.server.requests.get('GetCapacity')).toEqual({ parameters, volumeCapabilities: [], accessibleTopology });
  });

  it('is asked for again when a volume could not be made on the node that the scheduler selected', async () => {
    await start();
    await makeClass('late');
    await untilPublished('late {"matchLabels":{"zone":"a"}} 8Gi');
    // Something else uses the storage.
    await bench.server.state.put({ id: 'foreign', name: 'foreign', bytes: 2 ** 33, nodes: [], exclusive: true });
    await bench.createClaim({ storageClassName: 'late' });
    bench.server.faults.reject('CreateVolume', new GrpcError(grpcStatus.resourceExhausted, 'full'));
    const annotations = { [SELECTED_NODE]: 'node-1' };
    await bench.plane.client.of(core.PersistentVolumeClaim).patch(CLAIM, { metadata: { annotations } });
    await untilPublished('late {"matchLabels":{"zone":"a"}} 0');
  });
});
