import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coordination, core, storage } from '#api';
import { realClock } from '#base';
import { CLAIM, CsiControllerBench, DRIVER } from './csi-controller-bench.ts';

const GROUP = { group: 'snapshot.storage.k8s.io', version: 'v1' };
const SNAPSHOTS = { ...GROUP, resource: 'volumesnapshots', namespaced: true };
const CONTENTS = { ...GROUP, resource: 'volumesnapshotcontents', namespaced: false };
const CLASSES = { ...GROUP, resource: 'volumesnapshotclasses', namespaced: false };
const SNAPSHOT = { name: 's', namespace: 'default' };

interface ShownSnapshot {
  readonly metadata: { readonly uid?: string };
  readonly spec: { readonly volumeSnapshotClassName?: string };
  readonly status?: { readonly readyToUse?: boolean; readonly restoreSize?: string; readonly error?: { readonly message?: string } };
}

describe('what sidecars of a CSI driver would do', () => {
  let bench: CsiControllerBench;
  beforeEach(async () => {
    bench = await CsiControllerBench.start({ capacityBytes: 8 * 2 ** 30 });
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const client = () => bench.plane.client;
  const contentOf = (claimVolume: string) => bench.server.state.directory(`vol-${claimVolume}`);
  const makeClass = (deletionPolicy: string) =>
    client()
      .resource(CLASSES)
      .create({
        ...{ apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshotClass', driver: DRIVER, deletionPolicy },
        metadata: { name: 'snap', annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' } },
      } as never);
  const makeSnapshot = (source: object = { persistentVolumeClaimName: 'c' }) =>
    client()
      .resource(SNAPSHOTS)
      .create({ apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshot', metadata: SNAPSHOT, spec: { source } } as never);
  const snapshot = async () => (await client().resource(SNAPSHOTS).get(SNAPSHOT)) as unknown as ShownSnapshot;

  it('enlarges a volume, and leaves the rest to nothing where the driver needs no node', async () => {
    const name = await bench.makeBoundClaim();
    await client()
      .of(core.PersistentVolumeClaim)
      .patch(CLAIM, { spec: { resources: { requests: { storage: '3Gi' } } } });
    await bench.until(async () => (await bench.claim()).status?.capacity?.storage === '3Gi');
    expect((await client().of(core.PersistentVolume).get({ name })).spec?.capacity?.storage).toBe('3Gi');
    expect(bench.server.state.all[0]?.bytes).toBe(3 * 2 ** 30);
    const { status } = await bench.claim();
    expect(status?.allocatedResourceStatuses).toBeUndefined();
    expect(status?.conditions ?? []).toEqual([]);
  });

  it('tells the node that it has to do its part of an enlargement', async () => {
    await client()
      .of(storage.StorageClass)
      .create({
        ...{ metadata: { name: 'image' }, provisioner: DRIVER, parameters: { backing: 'loop' }, allowVolumeExpansion: true },
      });
    await bench.makeBoundClaim({ storageClassName: 'image' });
    await client()
      .of(core.PersistentVolumeClaim)
      .patch(CLAIM, { spec: { resources: { requests: { storage: '2Gi' } } } });
    await bench.until(async () => (await bench.claim()).status?.allocatedResourceStatuses?.storage === 'NodeResizePending');
    const { status } = await bench.claim();
    expect(status?.capacity?.storage).toBe('1Gi');
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['Resizing', 'FileSystemResizePending']);
    expect(await bench.eventReasons()).toContain('FileSystemResizeRequired');
  });

  it('says that a size cannot be, and does not ask for it over and over', async () => {
    await bench.makeBoundClaim();
    await client()
      .of(core.PersistentVolumeClaim)
      .patch(CLAIM, { spec: { resources: { requests: { storage: '100Gi' } } } });
    await bench.until(async () => (await bench.claim()).status?.allocatedResourceStatuses?.storage === 'ControllerResizeInfeasible');
    expect((await bench.claim()).status?.conditions?.at(-1)).toMatchObject({
      type: 'ControllerResizeError',
      message: `failed to expand pvc with rpc error: code = OutOfRange desc = there is no room for ${100 * 2 ** 30} bytes`,
    });
    await bench.plane.clock.advance(60_000);
    expect(bench.server.calls.filter((call) => call === 'ControllerExpandVolume')).toHaveLength(1);
  });

  it('changes a volume to the attributes of another class', async () => {
    const attributes = client().of(storage.VolumeAttributesClass);
    await bench.makeBoundClaim();
    await client()
      .of(core.PersistentVolumeClaim)
      .patch(CLAIM, { spec: { volumeAttributesClassName: 'gold' } });
    await bench.until(async () => (await bench.claim()).status?.modifyVolumeStatus?.status === 'Pending');
    await attributes.create({ metadata: { name: 'gold' }, driverName: DRIVER, parameters: { iops: '9000' } });
    await bench.until(async () => (await bench.claim()).status?.currentVolumeAttributesClassName === 'gold');
    expect(bench.server.state.all[0]?.mutableParameters).toEqual({ iops: '9000' });
    expect((await bench.claim()).status?.modifyVolumeStatus).toBeUndefined();
    await attributes.create({ metadata: { name: 'odd' }, driverName: DRIVER, parameters: { colour: 'red' } });
    await client()
      .of(core.PersistentVolumeClaim)
      .patch(CLAIM, { spec: { volumeAttributesClassName: 'odd' } });
    await bench.until(async () => (await bench.claim()).status?.modifyVolumeStatus?.status === 'Infeasible');
    expect((await bench.claim()).status?.currentVolumeAttributesClassName).toBe('gold');
  });

  it.each(['Delete', 'Retain'] as const)('takes a snapshot, fills another volume from it, and ends it by the policy %s', async (policy) => {
    await makeClass(policy);
    const name = await bench.makeBoundClaim();
    await writeFile(join(contentOf(name), 'f'), 'as it was');
    await makeSnapshot();
    await bench.until(async () => (await snapshot()).status?.readyToUse === true);
    expect((await snapshot()).status?.restoreSize).toBe('1Gi');
    await writeFile(join(contentOf(name), 'f'), 'changed since');
    const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
    const restored = await bench.makeBoundClaim({ dataSource }, { name: 'restored', namespace: 'default' });
    expect(await readFile(join(contentOf(restored), 'f'), 'utf8')).toBe('as it was');
    await client().resource(SNAPSHOTS).delete(SNAPSHOT);
    await bench.until(() => bench.isGone(client().resource(SNAPSHOTS).get(SNAPSHOT)));
    expect(bench.server.state.snapshots).toHaveLength(policy === 'Delete' ? 0 : 1);
    expect((await client().resource(CONTENTS).list()).items).toHaveLength(policy === 'Delete' ? 0 : 1);
  });

  it.each(['fail-once', 'fail-after-acting', 'garbage'] as const)('takes one snapshot of a driver that answers with %s', async (fault) => {
    await makeClass('Delete');
    await bench.makeBoundClaim();
    bench.server.faults.set('CreateSnapshot', fault);
    await makeSnapshot();
    await bench.until(async () => (await snapshot()).status?.readyToUse === true);
    expect(bench.server.state.snapshots).toHaveLength(1);
    expect((await snapshot()).status?.error).toBeUndefined();
  });

  const putOldSnapshot = async (deletionPolicy: string) => {
    await bench.server.state.putSnapshot({ id: 'old', name: 'old', volumeId: 'v', bytes: 2 ** 20, backing: 'directory', createdMs: 1e12 });
    await client()
      .resource(CONTENTS)
      .create({
        ...{ apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshotContent', metadata: { name: 'old' } },
        spec: { driver: DRIVER, deletionPolicy, source: { snapshotHandle: 'old' }, volumeSnapshotRef: { ...SNAPSHOT } },
      } as never);
    await makeSnapshot({ volumeSnapshotContentName: 'old' });
    await bench.until(async () => (await snapshot()).status?.readyToUse === true);
  };

  it('gives a name to a snapshot that was there before', async () => {
    await putOldSnapshot('Retain');
    expect((await snapshot()).status?.restoreSize).toBe('1Mi');
  });

  it('deletes a snapshot that was there before, by the policy of its content', async () => {
    await putOldSnapshot('Delete');
    await client().resource(SNAPSHOTS).delete(SNAPSHOT);
    await bench.until(() => bench.isGone(client().resource(SNAPSHOTS).get(SNAPSHOT)));
    expect(bench.server.state.snapshots).toEqual([]);
  });

  it('records the default class of a snapshot', async () => {
    await makeClass('Delete');
    await bench.makeBoundClaim();
    await makeSnapshot();
    await bench.until(async () => (await snapshot()).spec.volumeSnapshotClassName === 'snap');
  });

  it('says why a snapshot cannot be taken', async () => {
    await bench.makeBoundClaim();
    await makeSnapshot();
    await bench.until(async () => (await snapshot()).status?.error !== undefined);
    expect((await snapshot()).status?.error?.message).toBe(
      'Failed to set default snapshot class with error cannot find default snapshot class',
    );
  });

  it('fills a volume from another claim', async () => {
    const name = await bench.makeBoundClaim();
    await writeFile(join(contentOf(name), 'f'), 'copied');
    const clone = await bench.makeBoundClaim(
      { dataSource: { kind: 'PersistentVolumeClaim', name: 'c' } },
      { name: 'd', namespace: 'default' },
    );
    expect(await readFile(join(contentOf(clone), 'f'), 'utf8')).toBe('copied');
  });

  it('leaves a claim with a foreign source to whoever populates it, and binds what that made', async () => {
    const dataSourceRef = { apiGroup: 'example.com', kind: 'Dump', name: 'd' };
    await bench.createClaim({ dataSourceRef });
    const prime = { name: 'prime', namespace: 'default' };
    const volume = await bench.makeBoundClaim({}, prime);
    expect(bench.server.state.all).toHaveLength(1);
    await writeFile(join(contentOf(volume), 'f'), 'populated');
    // Like a populator that has filled its own claim's volume: the volume is bound to the user's claim.
    const { uid, resourceVersion } = (await bench.claim()).metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...CLAIM, uid, resourceVersion };
    await client().of(core.PersistentVolume).patch({ name: volume }, { spec: { claimRef } });
    await bench.until(async () => (await bench.claim()).status?.phase === 'Bound');
    expect((await bench.claim()).spec?.volumeName).toBe(volume);
    await client().of(core.PersistentVolumeClaim).delete(prime);
    await bench.plane.clock.advance(60_000);
    expect(await readFile(join(contentOf(volume), 'f'), 'utf8')).toBe('populated');
  });

  it('removes what was made for a claim that went meanwhile', async () => {
    bench.server.faults.set('CreateVolume', 'hang');
    await bench.createClaim();
    await bench.until(async () => (await bench.claim()).metadata.finalizers?.includes('sampan.dev/csi-provisioning') === true);
    // As if the process died after the driver acted: the response never came.
    await bench.controller[Symbol.asyncDispose]();
    bench.server.faults.clear();
    const { uid } = (await bench.claim()).metadata;
    await bench.server.state.put({ id: `vol-pvc-${uid}`, name: `pvc-${uid}`, bytes: 2 ** 30, nodes: [], exclusive: true });
    await client().of(core.PersistentVolumeClaim).delete(CLAIM);
    await bench.startController();
    await bench.until(() => bench.isGone(bench.claim()));
    expect(bench.server.state.all).toEqual([]);
  });

  it('is left to a sidecar that holds its lease', async () => {
    const renewTime = new Date(realClock.now()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'csi-provisioner-0', leaseDurationSeconds: 3600, renewTime };
    await client()
      .of(coordination.Lease)
      .create({ metadata: { name: 'disk-example-com', namespace: 'kube-system' }, spec });
    await bench.controller[Symbol.asyncDispose]();
    await bench.startController();
    await bench.createClaim();
    await bench.plane.clock.advance(10_000);
    await realClock.sleep(200);
    expect(bench.server.calls).not.toContain('CreateVolume');
  });
});
