import { describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { isStatusReason } from '#machinery';
import { startCluster, type TestCluster } from '#testing';

const STATEFUL_SET = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db, namespace: default }
spec:
  serviceName: db
  replicas: 2
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{ name: c, image: postgres, volumeMounts: [{ name: data, mountPath: /data }] }]
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

const claimName = { name: 'data-db-0', namespace: 'default' };

async function running(cluster: TestCluster): Promise<readonly core.Pod[]> {
  const { items } = await cluster.client.of(core.Pod).list({ namespace: 'default' });
  return items.filter(({ status }) => status?.phase === 'Running');
}

async function openWithStatefulSet(): Promise<TestCluster> {
  const cluster = await startCluster({ nodes: 3, clock: 'virtual', storage: true });
  await cluster.apply(STATEFUL_SET);
  await cluster.waitFor(async () => (await running(cluster)).length === 2, { what: 'both pods' });
  return cluster;
}

const isGone = (read: Promise<unknown>) =>
  read.then(
    () => false,
    (error: unknown) => isStatusReason(error, 'NotFound'),
  );

describe('the default storage class', () => {
  it('exists, and is the default', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual', storage: true });
    const standard = await cluster.clock.until(cluster.client.of(storage.StorageClass).get({ name: 'standard' }));
    expect(standard.metadata.annotations).toEqual({ 'storageclass.kubernetes.io/is-default-class': 'true' });
    expect(standard).toMatchObject({ volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true, reclaimPolicy: 'Delete' });
  });

  it('gives each pod of a StatefulSet a volume on its node, and the same one again', async () => {
    await using cluster = await openWithStatefulSet();
    const { client, clock } = cluster;
    const [pod] = await clock.until(running(cluster));
    const claim = await clock.until(client.of(core.PersistentVolumeClaim).get(claimName));
    const volume = await clock.until(client.of(core.PersistentVolume).get({ name: claim.spec?.volumeName ?? '' }));
    expect(volume.spec?.nodeAffinity?.required?.nodeSelectorTerms?.[0]?.matchExpressions).toEqual([
      { key: 'kubernetes.io/hostname', operator: 'In', values: [pod?.spec?.nodeName] },
    ]);
    expect(volume.spec?.local?.path).toBe(`/var/lib/sampan/local-volumes/pvc-${claim.metadata.uid}`);
    await clock.until(client.of(core.Pod).delete({ name: 'db-0', namespace: 'default' }));
    await clock.advance('1s');
    await cluster.waitFor(async () => (await running(cluster)).length === 2, { what: 'the pod again' });
    const again = (await clock.until(running(cluster))).find(({ metadata }) => metadata.name === 'db-0');
    expect(again?.metadata.uid).not.toBe(pod?.metadata.uid);
    expect(again?.spec?.nodeName).toBe(pod?.spec?.nodeName);
  });

  it('enlarges a volume', async () => {
    await using cluster = await openWithStatefulSet();
    const { client, clock } = cluster;
    const claims = client.of(core.PersistentVolumeClaim);
    await clock.until(claims.patch(claimName, { spec: { resources: { requests: { storage: '3Gi' } } } }));
    await cluster.waitFor(async () => (await claims.get(claimName)).status?.capacity?.storage === '3Gi', { what: 'the larger volume' });
    const { spec } = await clock.until(claims.get(claimName));
    const volume = await clock.until(client.of(core.PersistentVolume).get({ name: spec?.volumeName ?? '' }));
    expect(volume.spec?.capacity?.storage).toBe('3Gi');
  });

  it.each([
    ['Delete', true],
    ['Retain', false],
  ])('with the policy %s: the volume goes with its claim: %s', async (policy, goes) => {
    await using cluster = await openWithStatefulSet();
    const { client, clock } = cluster;
    const claims = client.of(core.PersistentVolumeClaim);
    const name = (await clock.until(claims.get(claimName))).spec?.volumeName ?? '';
    const volumes = client.of(core.PersistentVolume);
    await clock.until(volumes.patch({ name }, { spec: { persistentVolumeReclaimPolicy: policy } }));
    await clock.until(
      cluster.client
        .resource({ group: 'apps', version: 'v1', resource: 'statefulsets', namespaced: true })
        .delete({ name: 'db', namespace: 'default' }),
    );
    await cluster.waitFor(async () => (await running(cluster)).length === 0, { what: 'the end of the pods' });
    await clock.until(claims.delete(claimName));
    await cluster.waitFor(() => isGone(claims.get(claimName)), { what: 'the end of the claim' });
    await clock.advance('1m');
    expect(await clock.until(isGone(volumes.get({ name })))).toBe(goes);
    if (!goes) expect((await clock.until(volumes.get({ name }))).status?.phase).toBe('Released');
  });

  it('keeps a volume that somebody deletes while a claim has it, until the claim is gone', async () => {
    await using cluster = await openWithStatefulSet();
    const { client, clock } = cluster;
    const claims = client.of(core.PersistentVolumeClaim);
    const volumes = client.of(core.PersistentVolume);
    const name = (await clock.until(claims.get(claimName))).spec?.volumeName ?? '';
    await clock.until(volumes.delete({ name }));
    await clock.advance('1m');
    const { metadata } = await clock.until(volumes.get({ name }));
    expect(metadata.finalizers).toEqual(expect.arrayContaining(['kubernetes.io/pv-protection', 'sampan.dev/local-volume']));
    await cluster.apply(STATEFUL_SET.replace('replicas: 2', 'replicas: 0'));
    await clock.until(claims.delete(claimName));
    await cluster.waitFor(() => isGone(volumes.get({ name })), { what: 'the end of the volume' });
  });

  it('serves a claim that was there before the first node', async () => {
    await using cluster = await startCluster({ nodes: 0, clock: 'virtual', storage: true });
    await cluster.apply(`
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: { name: immediate }
      provisioner: sampan.dev/local`);
    await cluster.apply(`
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: { name: early, namespace: default }
      spec: { storageClassName: immediate, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }`);
    const claim = () => cluster.client.of(core.PersistentVolumeClaim).get({ name: 'early', namespace: 'default' });
    const isAsked = async () => (await claim()).metadata.annotations?.['volume.kubernetes.io/storage-provisioner'] !== undefined;
    await cluster.waitFor(isAsked, { what: 'the request to the provisioner' });
    await cluster.clock.advance('1s');
    await cluster.addNode('n1');
    await cluster.waitFor(async () => (await claim()).status?.phase === 'Bound', { what: 'the volume' });
  });

  it('binds immediately to a node that the class allows, and says when there is none', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual', storage: true });
    await cluster.apply(`
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: { name: fast }
      provisioner: sampan.dev/local
      allowedTopologies: [{ matchLabelExpressions: [{ key: disk, values: [ssd] }] }]`);
    await cluster.apply(`
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: { name: c, namespace: default }
      spec: { storageClassName: fast, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }`);
    const message = 'failed to provision volume with StorageClass "fast": no node is in the allowed topologies of the class';
    const events = () => cluster.client.of(core.Event).list({ namespace: 'default' });
    await cluster.waitFor(async () => (await events()).items.some((event) => event.message === message), { what: 'the event' });
    await cluster.addNode('n2');
    await cluster.clock.until(cluster.client.of(core.Node).patch({ name: 'n2' }, { metadata: { labels: { disk: 'ssd' } } }));
    const claim = () => cluster.client.of(core.PersistentVolumeClaim).get({ name: 'c', namespace: 'default' });
    await cluster.waitFor(async () => (await claim()).status?.phase === 'Bound', { what: 'the volume' });
    const [volume] = (await cluster.clock.until(cluster.client.of(core.PersistentVolume).list())).items;
    expect(volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms?.[0]?.matchExpressions?.[0]?.values).toEqual(['n2']);
  });

  it('says why it cannot serve a claim', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual', storage: true });
    await cluster.apply(`
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: { name: raw, namespace: default }
      spec: { accessModes: [ReadWriteOnce], dataSource: { kind: PersistentVolumeClaim, name: other }, resources: { requests: { storage: 1Gi } } }`);
    await cluster.apply(`
      apiVersion: v1
      kind: Pod
      metadata: { name: p, namespace: default }
      spec:
        containers: [{ name: c, image: x, volumeMounts: [{ name: v, mountPath: /v }] }]
        volumes: [{ name: v, persistentVolumeClaim: { claimName: raw } }]`);
    const message =
      'failed to provision volume with StorageClass "standard": volumes of this class cannot be cloned; use a CSI driver that can';
    await cluster.waitFor(
      async () => (await cluster.client.of(core.Event).list({ namespace: 'default' })).items.some((event) => event.message === message),
      { what: 'the event' },
    );
  });
});
