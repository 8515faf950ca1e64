import { describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { isStatusReason } from '#machinery';
import { startCluster, type TestCluster } from '#testing';

const CLAIM = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data, namespace: work }
spec: { storageClassName: '', accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

async function startWithClaim(): Promise<TestCluster> {
  const cluster = await startCluster({ nodes: 1, clock: 'virtual' });
  await cluster.apply('{ apiVersion: v1, kind: Namespace, metadata: { name: work } }');
  await cluster.apply(CLAIM);
  return cluster;
}

const DATA = { name: 'data', namespace: 'work' };

/** Whether a read returns NotFound. */
async function isGone(read: Promise<unknown>): Promise<boolean> {
  return read.then(
    () => false,
    (error: unknown) => isStatusReason(error, 'NotFound'),
  );
}

describe('claims', () => {
  it('go with their namespace', async () => {
    await using cluster = await startWithClaim();
    const { client, clock } = cluster;
    await clock.until(client.of(core.Namespace).delete({ name: 'work' }));
    await cluster.waitFor(() => isGone(client.of(core.Namespace).get({ name: 'work' })), { what: 'the end of the namespace' });
    expect((await client.of(core.PersistentVolumeClaim).list({ namespace: 'work' })).items).toEqual([]);
  });

  it('stay until the pod that uses them is gone', async () => {
    await using cluster = await startWithClaim();
    const { client, clock } = cluster;
    const claims = client.of(core.PersistentVolumeClaim);
    await cluster.apply(`
      apiVersion: v1
      kind: Pod
      metadata: { name: user, namespace: work }
      spec:
        nodeName: n1
        containers: [{ name: c, image: nginx }]
        volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]`);
    await clock.advance('5s');
    await clock.until(claims.delete(DATA));
    await clock.advance('10m');
    const claim = await clock.until(claims.get(DATA));
    expect(claim.metadata.deletionTimestamp).toBeDefined();
    expect(claim.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    await clock.until(client.of(core.Pod).delete({ name: 'user', namespace: 'work' }));
    await cluster.waitFor(() => isGone(claims.get(DATA)), { what: 'the end of the claim' });
  });
});

const VOLUME = `
apiVersion: v1
kind: PersistentVolume
metadata: { name: disk }
spec:
  capacity: { storage: 5Gi }
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: POLICY
  nfs: { server: nas, path: /disk }
`;

async function phases(cluster: TestCluster): Promise<{ readonly claim?: string | undefined; readonly volume?: string | undefined }> {
  const { client } = cluster;
  const claim = await client.of(core.PersistentVolumeClaim).get(DATA);
  const volume = await client.of(core.PersistentVolume).get({ name: 'disk' });
  return { claim: claim.status?.phase, volume: volume.status?.phase };
}

describe('a volume of a driver', () => {
  it('is attached to the node of a pod that was there before the volume', async () => {
    await using cluster = await startWithClaim();
    const { client, clock } = cluster;
    // Without a kubelet only the volume and the claim change.
    await clock.until(client.of(core.Node).create({ metadata: { name: 'bare' } }));
    await cluster.apply(`
      apiVersion: v1
      kind: Pod
      metadata: { name: user, namespace: work }
      spec:
        nodeName: bare
        tolerations: [{ operator: Exists }]
        containers: [{ name: c, image: nginx }]
        volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]`);
    await clock.advance('5s');
    await cluster.apply(`
      apiVersion: v1
      kind: PersistentVolume
      metadata: { name: pv }
      spec:
        capacity: { storage: 1Gi }
        accessModes: [ReadWriteOnce]
        storageClassName: ''
        csi: { driver: disk.example.com, volumeHandle: h }`);
    const attachedTo = async () => (await client.of(storage.VolumeAttachment).list()).items.map(({ spec }) => spec.nodeName);
    await cluster.waitFor(async () => (await attachedTo()).join() === 'bare', { within: '20s', what: 'the attachment' });
  });
});

describe('a claim and a volume', () => {
  it('are bound, released when the claim goes, and bound again when the volume is freed', async () => {
    await using cluster = await startWithClaim();
    const { client, clock } = cluster;
    const areBound = async () => {
      const { claim, volume } = await phases(cluster);
      return claim === 'Bound' && volume === 'Bound';
    };
    const inPhase = (phase: string) => async () => (await client.of(core.PersistentVolume).get({ name: 'disk' })).status?.phase === phase;
    await clock.advance('5s');
    expect((await clock.until(client.of(core.PersistentVolumeClaim).get(DATA))).status).toEqual({ phase: 'Pending' });
    await cluster.apply(VOLUME.replace('POLICY', 'Retain'));
    await cluster.waitFor(areBound, { what: 'the binding', within: '2s' });
    const bound = await clock.until(client.of(core.PersistentVolumeClaim).get(DATA));
    expect(bound.status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } });
    await clock.until(client.of(core.PersistentVolumeClaim).delete(DATA));
    await cluster.waitFor(inPhase('Released'), { what: 'the release' });
    await cluster.apply(CLAIM);
    await clock.advance('1m');
    expect(await clock.until(phases(cluster))).toEqual({ claim: 'Pending', volume: 'Released' });
    await clock.until(client.of(core.PersistentVolume).patch({ name: 'disk' }, { spec: { claimRef: null } }));
    await cluster.waitFor(areBound, { what: 'the second binding' });
  });

  it('with the policy Recycle, are followed by a pod that empties the volume for the next claim', async () => {
    await using cluster = await startWithClaim();
    const { client, clock } = cluster;
    await cluster.apply(VOLUME.replace('POLICY', 'Recycle'));
    await cluster.waitFor(async () => (await phases(cluster)).claim === 'Bound', { what: 'the binding' });
    const pods: string[] = [];
    const watching = new AbortController();
    const watched = (async () => {
      for await (const event of client.of(core.Pod).watch({ namespace: 'default', signal: watching.signal }))
        if (event.type === 'ADDED') pods.push(`${event.object.metadata.name} ${event.object.spec?.volumes?.[0]?.nfs?.path}`);
    })().catch(() => {});
    await clock.until(client.of(core.PersistentVolumeClaim).delete(DATA));
    const volume = () => client.of(core.PersistentVolume).get({ name: 'disk' });
    await cluster.waitFor(async () => (await volume()).status?.phase === 'Available', { what: 'the empty volume' });
    expect((await clock.until(volume())).spec?.claimRef).toBeUndefined();
    expect(pods).toEqual(['recycler-for-disk /disk']);
    await cluster.waitFor(async () => (await client.of(core.Pod).list({ namespace: 'default' })).items.length === 0, { what: 'no pod' });
    const reasons = async () =>
      (await client.of(core.Event).list({ namespace: 'default' })).items
        .filter(({ involvedObject }) => involvedObject?.name === 'disk')
        .map(({ reason, message }) => `${reason}: ${message}`);
    await cluster.waitFor(async () => (await reasons()).includes('VolumeRecycled: Volume recycled'), { what: 'the event' });
    expect(await clock.until(reasons())).toContain('RecyclerPod: Recycler pod: Successfully assigned default/recycler-for-disk to n1');
    await cluster.apply(CLAIM);
    await cluster.waitFor(async () => (await phases(cluster)).claim === 'Bound', { what: 'the next claim' });
    watching.abort();
    await watched;
  });

  it('with the policy Recycle, end with a failed volume when its pod fails, which is tried again', async () => {
    await using cluster = await startWithClaim();
    const { client, clock } = cluster;
    await cluster.apply(VOLUME.replace('POLICY', 'Recycle'));
    await cluster.waitFor(async () => (await phases(cluster)).claim === 'Bound', { what: 'the binding' });
    // Left behind by a killed controller manager.
    await cluster.apply(`
      apiVersion: v1
      kind: Pod
      metadata: { name: recycler-for-disk, namespace: default }
      spec: { schedulerName: nobody, containers: [{ name: c, image: x }] }`);
    await clock.until(client.of(core.PersistentVolumeClaim).delete(DATA));
    const status = async () => (await client.of(core.PersistentVolume).get({ name: 'disk' })).status;
    const message = 'Recycle failed: old recycler pod found, will retry later';
    await cluster.waitFor(async () => (await status())?.message === message, { what: 'the failure' });
    expect(await clock.until(status())).toMatchObject({ phase: 'Failed' });
    await cluster.waitFor(async () => (await status())?.phase === 'Available', { what: 'the empty volume', within: '2m' });
  });

  it('end with a failed volume when nothing can delete it', async () => {
    await using cluster = await startWithClaim();
    const { client, clock } = cluster;
    await cluster.apply(VOLUME.replace('POLICY', 'Delete'));
    await cluster.waitFor(async () => (await phases(cluster)).claim === 'Bound', { what: 'the binding' });
    await clock.until(client.of(core.PersistentVolumeClaim).delete(DATA));
    const message = 'error getting deleter volume plugin for volume "disk": no deletable volume plugin matched';
    const failed = await cluster.waitFor(async () => {
      const volume = await client.of(core.PersistentVolume).get({ name: 'disk' });
      return volume.status?.phase === 'Failed' && volume;
    });
    expect(failed.status?.message).toBe(message);
    const { items } = await cluster.waitFor(async () => {
      const list = await client.of(core.Event).list({ namespace: 'default', fieldSelector: 'reason=VolumeFailedDelete' });
      return list.items.length > 0 && list;
    });
    expect(items.map((event) => event.message)).toEqual([message]);
  });
});
