import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { GrpcError, grpcStatus } from '#base';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';
import { CLASS_NAME, SnapshotBench } from './snapshot-bench.ts';

const BEING_CREATED = 'snapshot.storage.kubernetes.io/volumesnapshot-being-created';
const CLAIM_SOURCE = 'snapshot.storage.kubernetes.io/pvc-as-source-protection';

describe('a snapshot by a CSI driver', () => {
  let bench: CsiControllerBench;
  let snapshots: SnapshotBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start();
    snapshots = new SnapshotBench(bench);
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const claims = () => bench.plane.client.of(core.PersistentVolumeClaim);
  const reject = (call: string, code: keyof typeof grpcStatus, text: string) =>
    bench.server.faults.reject(call, new GrpcError(grpcStatus[code], text));
  const untilEvent = (text: string) => bench.until(async () => (await bench.eventMessages()).includes(text));
  const untilError = (text: string) => bench.until(async () => (await snapshots.get()).status?.error?.message === text);

  it('has the events and finalizers of upstream, and keeps its claim until it is ready', async () => {
    await bench.makeBoundClaim();
    await snapshots.makeClass('Delete');
    reject('CreateSnapshot', 'aborted', 'under way');
    await snapshots.make();
    await untilEvent('CreatingSnapshot: Waiting for a snapshot default/s to be created by the CSI driver.');
    await bench.until(async () => (await bench.claim()).metadata.finalizers?.includes(CLAIM_SOURCE) === true);
    await claims().delete(CLAIM);
    await bench.plane.clock.advance(10_000);
    expect((await bench.claim()).metadata.finalizers).toEqual([CLAIM_SOURCE]);
    expect((await snapshots.get()).metadata.finalizers).toEqual([
      'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection',
      'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
    ]);
    bench.server.faults.clear();
    await untilEvent('SnapshotCreated: Snapshot default/s was successfully created by the CSI driver.');
    await untilEvent('SnapshotReady: Snapshot default/s is ready to use.');
    await bench.until(() => bench.isGone(bench.claim()));
    await snapshots.delete();
    await bench.until(() => bench.isGone(snapshots.get()));
    expect(bench.server.state.snapshots).toEqual([]);
  });

  it('that fails says so in its status and in events of its content, until it succeeds', async () => {
    const name = await bench.makeBoundClaim();
    await snapshots.makeClass('Delete');
    reject('CreateSnapshot', 'internal', 'no "room"');
    await snapshots.make();
    const cause = `failed to take snapshot of the volume vol-${name}: "rpc error: code = Internal desc = no \\"room\\""`;
    await untilEvent(`SnapshotCreationFailed: Failed to create snapshot: ${cause}`);
    await untilError(`Failed to check and update snapshot content: ${cause}`);
    const isUncertain = async () => (await snapshots.contents())[0]?.metadata.annotations?.[BEING_CREATED] !== undefined;
    await bench.until(async () => !(await isUncertain()));
    bench.server.faults.clear();
    await bench.until(async () => (await snapshots.get()).status?.readyToUse === true);
    expect((await snapshots.get()).status?.error).toBeUndefined();
    expect((await snapshots.contents())[0]?.status?.error).toBeUndefined();
  });

  it.each<[string, object, string, string]>([
    [
      'of a claim that is not there',
      { persistentVolumeClaimName: 'other' },
      'SetDefaultSnapshotClassFailed',
      'Failed to set default snapshot class with error failed to retrieve PVC other from the lister: "persistentvolumeclaim \\"other\\" not found"',
    ],
    [
      'of a content that is not there',
      { volumeSnapshotContentName: 'other' },
      'SnapshotContentMissing',
      'VolumeSnapshotContent is missing',
    ],
  ])('%s says so', async (_, source, reason, message) => {
    await snapshots.makeClass('Delete');
    await snapshots.make(source);
    await untilEvent(`${reason}: ${message}`);
    await untilError(message);
  });

  it('whose class does not exist waits for it', async () => {
    await bench.makeBoundClaim();
    await snapshots.make(undefined, { volumeSnapshotClassName: CLASS_NAME });
    const message = `Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "${CLASS_NAME}" not found`;
    await untilEvent(`GetSnapshotClassFailed: ${message}`);
    await snapshots.makeClass('Delete');
    await bench.until(async () => (await snapshots.get()).status?.readyToUse === true);
  });

  it('of a claim that is not bound says so', async () => {
    await snapshots.makeClass('Delete');
    await bench.createClaim({ selector: { matchLabels: { a: 'b' } } });
    await snapshots.make(undefined, { volumeSnapshotClassName: CLASS_NAME });
    await untilError(
      'Failed to create snapshot content with error failed to get input parameters to create snapshot s: "the PVC c is not yet bound to a PV, will not attempt to take a snapshot"',
    );
    await snapshots.delete();
    await bench.until(() => bench.isGone(snapshots.get()));
    expect((await bench.claim()).metadata.finalizers).not.toContain(CLAIM_SOURCE);
  });

  it('does not bind to the content of another', async () => {
    await snapshots.makeClass('Delete');
    await snapshots.makeContent('old', { source: { snapshotHandle: 'h' }, volumeSnapshotRef: { name: 'other', namespace: 'default' } });
    await snapshots.make({ volumeSnapshotContentName: 'old' });
    await untilEvent('SnapshotContentMisbound: VolumeSnapshotContent [old] is bound to a different snapshot');
  });

  it('keeps its content when somebody deletes that', async () => {
    await bench.makeBoundClaim();
    await snapshots.makeClass('Delete');
    await snapshots.makeReady();
    const name = (await snapshots.get()).status?.boundVolumeSnapshotContentName ?? '';
    await snapshots.deleteContent(name);
    await bench.plane.clock.advance(10_000);
    expect((await snapshots.contents())[0]?.metadata.deletionTimestamp).toBeDefined();
    expect(bench.server.state.snapshots).toHaveLength(1);
    await snapshots.delete();
    await bench.until(async () => (await snapshots.contents()).length === 0);
    expect(bench.server.state.snapshots).toEqual([]);
  });

  it('has the secrets that its class names', async () => {
    const secret = { name: 'key-s', namespace: 'default' };
    await bench.plane.client.of(core.Secret).create({ metadata: secret, stringData: { token: 'x' } });
    const parameter = 'csi.storage.k8s.io/snapshotter-secret';
    await bench.makeBoundClaim();
    await snapshots.makeClass('Delete', {
      [`${parameter}-name`]: `key-\${${'volumesnapshot.name'}}`,
      [`${parameter}-namespace`]: 'default',
      kind: 'fast',
    });
    await snapshots.makeReady();
    expect(bench.server.requests.get('CreateSnapshot')).toMatchObject({ secrets: { token: 'x' }, parameters: { kind: 'fast' } });
    await snapshots.delete();
    await bench.until(() => bench.isGone(snapshots.get()));
    expect(bench.server.requests.get('DeleteSnapshot')).toMatchObject({ secrets: { token: 'x' } });
  });

  it('is taken with the names of its objects, for a driver that asks for them', async () => {
    const annotations = { 'sampan.dev/extra-create-metadata': 'true' };
    await bench.plane.client.of(storage.CSIDriver).create({ metadata: { name: DRIVER, annotations }, spec: {} });
    await bench.makeBoundClaim();
    await snapshots.makeClass('Delete');
    await snapshots.makeReady();
    expect(bench.server.requests.get('CreateSnapshot')).toMatchObject({
      parameters: {
        'csi.storage.k8s.io/volumesnapshot/name': 's',
        'csi.storage.k8s.io/volumesnapshot/namespace': 'default',
        'csi.storage.k8s.io/volumesnapshotcontent/name': (await snapshots.get()).status?.boundVolumeSnapshotContentName,
      },
    });
  });

  it('of a class with unknown parameters says so', async () => {
    await bench.makeBoundClaim();
    await snapshots.makeClass('Delete', { 'csi.storage.k8s.io/odd': 'x' });
    await snapshots.make();
    const cause = 'found unknown parameter key "csi.storage.k8s.io/odd" with reserved namespace csi.storage.k8s.io/';
    await untilEvent(`SnapshotCreationFailed: Failed to create snapshot: failed to remove CSI Parameters of prefixed keys: ${cause}`);
    expect(bench.server.calls).not.toContain('CreateSnapshot');
    expect(DRIVER).toBe((await snapshots.contents())[0]?.spec.driver);
  });
});
