import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { GrpcError, grpcStatus } from '#base';
import { CLAIM, CsiControllerBench } from './csi-controller-bench.ts';
import { SNAPSHOT_NAME, SnapshotBench } from './snapshot-bench.ts';

const CLONE_SOURCE = 'provisioner.storage.kubernetes.io/cloning-protection';
const RESTORE_SOURCE = 'provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection';
const COPY = { name: 'copy', namespace: 'default' };

describe('what a volume is filled from', () => {
  let bench: CsiControllerBench;
  let snapshots: SnapshotBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start();
    snapshots = new SnapshotBench(bench);
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const claims = () => bench.plane.client.of(core.PersistentVolumeClaim);
  const failMaking = () => bench.server.faults.reject('CreateVolume', new GrpcError(grpcStatus.aborted, 'under way'));
  const untilBound = () => bench.until(async () => (await bench.claim(COPY)).status?.phase === 'Bound');

  it('if a claim, stays until the clone is there', async () => {
    await bench.makeBoundClaim();
    failMaking();
    await bench.createClaim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'c' } }, COPY);
    await bench.until(async () => (await bench.claim()).metadata.finalizers?.includes(CLONE_SOURCE) === true);
    await claims().delete(CLAIM);
    await bench.until(async () => (await bench.claim()).metadata.finalizers?.join() === CLONE_SOURCE);
    await bench.plane.clock.advance(10_000);
    expect((await bench.claim()).metadata.deletionTimestamp).toBeDefined();
    await claims().delete(COPY);
    bench.server.faults.clear();
    await bench.until(() => bench.isGone(bench.claim()));
  });

  it('if a snapshot, is protected until the volume is there', async () => {
    await bench.makeBoundClaim();
    await snapshots.makeClass('Delete');
    await snapshots.makeReady();
    failMaking();
    const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: SNAPSHOT_NAME.name };
    await bench.createClaim({ dataSource }, COPY);
    const isProtected = async () => (await snapshots.get()).metadata.finalizers?.includes(RESTORE_SOURCE) === true;
    await bench.until(isProtected);
    await snapshots.delete();
    await bench.until(async () => (await bench.eventReasons()).includes('SnapshotDeletePending'));
    bench.server.faults.clear();
    await untilBound();
    await bench.until(() => bench.isGone(snapshots.get()));
    expect(bench.server.state.snapshots).toEqual([]);
  });

  it.each([
    [
      { resources: { requests: { storage: '1Mi' } } },
      'requested volume size 1048576 is less than the size 1073741824 for the source snapshot s',
    ],
    [
      { volumeMode: 'Block' },
      'requested volume default/copy modifies the mode of the source volume but does not have permission to do so. ' +
        'snapshot.storage.kubernetes.io/allow-volume-mode-change annotation is not present on snapshotcontent CONTENT',
    ],
  ])('if a snapshot, must fit the claim: %j', async (spec, message) => {
    await bench.makeBoundClaim();
    await snapshots.makeClass('Delete');
    await snapshots.makeReady();
    const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: SNAPSHOT_NAME.name };
    await bench.createClaim({ dataSource, ...spec }, COPY);
    const content = (await snapshots.get()).status?.boundVolumeSnapshotContentName ?? '';
    const text = `error getting handle for DataSource Type VolumeSnapshot by Name s: ${message.replace('CONTENT', content)}`;
    await bench.until(async () => (await bench.eventMessages()).includes(`ProvisioningFailed: ${text}`));
  });

  it('if a claim, must not be larger than its clone', async () => {
    await bench.makeBoundClaim();
    await bench.createClaim(
      { dataSource: { kind: 'PersistentVolumeClaim', name: 'c' }, resources: { requests: { storage: '1Mi' } } },
      COPY,
    );
    const text =
      'error getting handle for DataSource Type PersistentVolumeClaim by Name c: error, new PVC request must be greater than or equal in size ' +
      'to the specified PVC data source, requested 1048576 but source is 1073741824';
    await bench.until(async () => (await bench.eventMessages()).includes(`ProvisioningFailed: ${text}`));
  });
});
