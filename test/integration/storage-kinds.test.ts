import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core, type Kind, storage } from '#api';
import type { Identified } from '#client';
import { isStatusReason } from '#machinery';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

interface Lifecycle {
  readonly kind: Kind<Identified>;
  readonly namespace?: string;
  /** The object without its metadata. */
  readonly body: object;
}

const CSI = { driver: 'disk.example.com', volumeHandle: 'h' };
const LIFECYCLES: readonly Lifecycle[] = [
  { kind: storage.CSIDriver, body: { spec: { attachRequired: false } } },
  { kind: storage.CSINode, body: { spec: { drivers: [] } } },
  { kind: storage.CSIStorageCapacity, namespace: 'default', body: { storageClassName: 'fast', capacity: '1Gi' } },
  { kind: storage.StorageClass, body: { provisioner: 'disk.example.com' } },
  { kind: storage.VolumeAttributesClass, body: { driverName: 'disk.example.com', parameters: { iops: '1' } } },
  {
    kind: storage.VolumeAttachment,
    body: { spec: { attacher: 'disk.example.com', nodeName: 'nowhere', source: { persistentVolumeName: 'pv' } } },
  },
  {
    kind: core.PersistentVolume,
    body: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'none', csi: CSI } },
  },
  {
    kind: core.PersistentVolumeClaim,
    namespace: 'default',
    body: { spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } } },
  },
  {
    kind: core.Pod,
    namespace: 'default',
    body: {
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
        volumes: [{ name: 'v', csi: { driver: 'disk.example.com', volumeAttributes: { a: 'b' } } }],
      },
    },
  },
] as never;

/** The parts of upstream's [sig-storage] conformance tests that only use the API. */
describe('the kinds of storage', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
    await plane.until(async () => (await plane.client.of(core.ServiceAccount).list({ namespace: 'default' })).items.length > 0);
  });
  afterAll(async () => {
    const closed = plane[Symbol.asyncDispose]();
    await plane.clock.advance(60_000);
    await closed;
  });

  const isGone = (read: Promise<unknown>) =>
    read.then(
      () => false,
      (error: unknown) => isStatusReason(error, 'NotFound'),
    );

  it.each(LIFECYCLES.map((lifecycle) => ({ ...lifecycle, name: lifecycle.kind.kind })))(
    'run through the lifecycle of a $name',
    async ({ kind, namespace, body }) => {
      const objects = plane.client.of(kind);
      const key = (name: string) => ({ name, ...(namespace && { namespace }) });
      const create = (name: string) => objects.create({ metadata: { ...key(name), labels: { e2e: 'one' } }, ...body } as never);
      const labelled = async (labelSelector: string) =>
        (await objects.list({ labelSelector, ...(namespace && { namespace }) })).items.map(({ metadata }) => metadata.name);
      const [{ metadata }] = [await create('first'), await create('second')];
      expect((await objects.get(key('first'))).metadata.uid).toBe(metadata.uid);
      expect(await labelled('e2e=one')).toEqual(['first', 'second']);
      expect((await objects.patch(key('first'), { metadata: { labels: { e2e: 'patched' } } })).metadata.labels).toEqual({ e2e: 'patched' });
      expect(await labelled('e2e=patched')).toEqual(['first']);
      const current = await objects.get(key('first'));
      const updated = await objects.update({ ...current, metadata: { ...current.metadata, labels: { e2e: 'updated' } } });
      expect(updated.metadata.labels).toEqual({ e2e: 'updated' });
      await objects.delete(key('first'), { gracePeriodSeconds: 0 });
      await plane.until(() => isGone(objects.get(key('first'))));
      expect((await create('first')).metadata.uid).not.toBe(metadata.uid);
      await objects.deleteCollection({ labelSelector: 'e2e=one', ...(namespace && { namespace }) }, { gracePeriodSeconds: 0 });
      await plane.until(async () => (await labelled('e2e')).length === 0);
    },
  );

  const read = (path: string) => plane.client.transport.request({ method: 'GET', path });

  it('are found by discovery', async () => {
    expect(await read('/apis')).toMatchObject({ groups: expect.arrayContaining([expect.objectContaining({ name: 'storage.k8s.io' })]) });
    const versions = expect.arrayContaining([{ groupVersion: 'storage.k8s.io/v1', version: 'v1' }]);
    expect(await read('/apis/storage.k8s.io')).toMatchObject({ versions });
    const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
    const resources = expect.arrayContaining([expect.objectContaining({ name: 'csistoragecapacities', namespaced: true, verbs })]);
    expect(await read('/apis/storage.k8s.io/v1')).toMatchObject({ resources });
  });

  it('are watched', async () => {
    const capacities = plane.client.of(storage.CSIStorageCapacity);
    const { metadata } = await capacities.list({ namespace: 'default' });
    const stop = new AbortController();
    const events = capacities.watch({ namespace: 'default', resourceVersion: metadata?.resourceVersion ?? '', signal: stop.signal });
    const key = { name: 'watched', namespace: 'default' };
    await capacities.create({ metadata: key, storageClassName: 'fast', capacity: '1Gi' });
    await capacities.patch(key, { capacity: '2Gi' });
    await capacities.delete(key);
    const types: string[] = [];
    for await (const { type } of events) if (types.push(type) === 3) break;
    stop.abort();
    expect(types).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  it('have a status of volumes and claims that is read, patched and updated', async () => {
    const claims = plane.client.of(core.PersistentVolumeClaim);
    const volumes = plane.client.of(core.PersistentVolume);
    const key = { name: 'status', namespace: 'default' };
    await volumes.create({
      metadata: { name: 'status' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'none', csi: CSI },
    });
    const requests = { storage: '1Gi' };
    await claims.create({ metadata: key, spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests } } });
    const statusOf = async (path: string) => ((await read(`${path}/status`)) as core.PersistentVolume).status;
    await plane.until(async () => (await statusOf('/api/v1/namespaces/default/persistentvolumeclaims/status'))?.phase === 'Bound');
    await plane.until(async () => (await statusOf('/api/v1/persistentvolumes/status'))?.phase === 'Bound');
    const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'set from a test' });
    const status = { subresource: 'status' } as const;
    const patched = await claims.patch(key, { status: { conditions: [condition('StatusPatched')] } }, status);
    expect(patched.status?.conditions?.map(({ type }) => type)).toEqual(['StatusPatched']);
    const claim = await claims.updateStatus({
      ...patched,
      status: { ...patched.status, conditions: [condition('StatusUpdated')] } as never,
    });
    expect(claim.status?.conditions?.map(({ type }) => type)).toEqual(['StatusUpdated']);
    const volume = await volumes.patch({ name: 'status' }, { status: { reason: 'E2E', message: 'patched' } }, status);
    expect(volume.status).toMatchObject({ reason: 'E2E', message: 'patched' });
    const updated = await volumes.updateStatus({ ...volume, status: { ...volume.status, message: 'updated' } });
    expect(updated.status).toMatchObject({ phase: 'Bound', reason: 'E2E', message: 'updated' });
  });

  it('have a status of attachments that is patched and updated', async () => {
    const attachments = plane.client.of(storage.VolumeAttachment);
    const name = 'attached';
    const source = { persistentVolumeName: 'pv' };
    const attachment = await attachments.create({
      metadata: { name },
      spec: { attacher: 'disk.example.com', nodeName: 'nowhere', source },
    } as never);
    expect(attachment.status?.attached).toBe(false);
    expect(await read(`/apis/storage.k8s.io/v1/volumeattachments/${name}/status`)).toMatchObject({ status: { attached: false } });
    const patched = await attachments.patch({ name }, { status: { attached: true } }, { subresource: 'status' });
    expect(patched.status?.attached).toBe(true);
    const updated = await attachments.updateStatus({ ...patched, status: { attached: false } });
    expect(updated.status?.attached).toBe(false);
    await attachments.delete({ name });
    await plane.until(() => isGone(attachments.get({ name })));
  });
});
