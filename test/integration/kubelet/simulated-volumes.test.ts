import { describe, expect, it } from 'vitest';
import { core, storage } from '#api';
import { startCluster, type TestCluster } from '#testing';

const DRIVER = 'disk.example.com';
const IQN = 'iqn.2026-01.com.example:disk';
const DISK = `kubernetes.io/iscsi/10.0.0.1:${IQN}:3`;
const POD = { name: 'p', namespace: 'default' };

const objects = (nodeName: string) => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: c, namespace: default }
spec: { accessModes: [ReadWriteOnce], storageClassName: '', volumeName: pv, resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: p, namespace: default }
spec:
  nodeName: ${nodeName}
  terminationGracePeriodSeconds: 0
  containers: [{ name: c, image: x, volumeMounts: [{ name: v, mountPath: /v }] }]
  volumes: [{ name: v, persistentVolumeClaim: { claimName: c } }]`;
const VOLUME = `
apiVersion: v1
kind: PersistentVolume
metadata: { name: pv }
spec:
  capacity: { storage: 1Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: ''
  claimRef: { name: c, namespace: default }
  csi: { driver: ${DRIVER}, volumeHandle: h }`;

/** Acts as a driver's attacher. */
async function attach(cluster: TestCluster): Promise<void> {
  const attachments = cluster.client.of(storage.VolumeAttachment);
  for (const { metadata, status } of (await cluster.clock.until(attachments.list())).items) {
    if (status?.attached !== true)
      await cluster.clock.until(attachments.patch(metadata, { status: { attached: true } }, { subresource: 'status' }));
  }
}

describe('volumes of a simulated node', () => {
  const phaseOf = async (cluster: TestCluster) => (await cluster.client.of(core.Pod).get(POD)).status?.phase;
  const attached = async (cluster: TestCluster) =>
    (await cluster.client.of(storage.VolumeAttachment).list()).items.map(({ spec }) => spec.nodeName).join();
  const inUse = async (cluster: TestCluster, name: string) =>
    ((await cluster.client.of(core.Node).get({ name })).status?.volumesInUse ?? []).join();

  it('are waited for until they are bound and attached, are in use, and are let go with the pod', async () => {
    await using cluster = await startCluster({ nodes: 2, clock: 'virtual' });
    await cluster.apply(objects('n1'));
    await cluster.clock.advance('1m');
    expect(await cluster.clock.until(phaseOf(cluster))).toBe('Pending');
    await cluster.apply(VOLUME);
    await cluster.waitFor(async () => (await attached(cluster)) === 'n1', { what: 'the attachment' });
    await cluster.clock.advance('30s');
    expect(await cluster.clock.until(phaseOf(cluster))).toBe('Pending');
    await attach(cluster);
    await cluster.waitFor(async () => (await phaseOf(cluster)) === 'Running', { what: 'the pod' });
    expect(await cluster.clock.until(inUse(cluster, 'n1'))).toBe(`kubernetes.io/csi/${DRIVER}^h`);
    await cluster.clock.until(cluster.client.of(core.Pod).delete(POD));
    await cluster.waitFor(async () => (await attached(cluster)) === '', { what: 'the detachment' });
    expect(await cluster.clock.until(inUse(cluster, 'n1'))).toBe('');
    const { items } = await cluster.clock.until(cluster.client.of(core.Event).list({ namespace: 'default' }));
    expect(items.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['FailedMount', 'SuccessfulAttachVolume']));
  });

  it('of one node at a time are attached to one when pods on two ask for them at once', async () => {
    await using cluster = await startCluster({ nodes: 2, clock: 'virtual' });
    await cluster.apply(`${VOLUME}\n---\n${objects('n1').split('---')[0]}`);
    const claims = cluster.client.of(core.PersistentVolumeClaim);
    await cluster.waitFor(async () => (await claims.get({ name: 'c', namespace: 'default' })).status?.phase === 'Bound', {
      what: 'the claim',
    });
    const containers = [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    const create = (name: string, nodeName: string) =>
      cluster.client.of(core.Pod).create({ metadata: { name, namespace: 'default' }, spec: { nodeName, containers, volumes } } as never);
    await cluster.clock.until(Promise.all([create('a', 'n1'), create('b', 'n2')]));
    await cluster.clock.advance('20s');
    const { items } = await cluster.clock.until(cluster.client.of(storage.VolumeAttachment).list());
    expect(items).toHaveLength(1);
    const events = await cluster.clock.until(cluster.client.of(core.Event).list({ namespace: 'default' }));
    expect(events.items.map(({ message }) => message)).toContainEqual(expect.stringContaining('Multi-Attach error for volume "pv"'));
  });

  it('that are iSCSI disks are on one node at a time, and on the next when the first has let them go', async () => {
    await using cluster = await startCluster({ nodes: 2, clock: 'virtual' });
    const { client, clock } = cluster;
    const iscsi = `iscsi: { targetPortal: 10.0.0.1, iqn: '${IQN}', lun: 3 }`;
    await cluster.apply(`${VOLUME.replace(/csi: .*/, iscsi)}\n---\n${objects('n1')}`);
    const disks = async (name: string) =>
      ((await client.of(core.Node).get({ name })).status?.volumesAttached ?? []).map((disk) => disk.name);
    const phase = (name: string) => async () => (await client.of(core.Pod).get({ ...POD, name })).status?.phase === 'Running';
    await cluster.waitFor(phase('p'), { what: 'the pod' });
    expect(await clock.until(disks('n1'))).toEqual([DISK]);
    expect(await clock.until(inUse(cluster, 'n1'))).toBe(DISK);
    await cluster.apply(objects('n2').split('---')[1]?.replace('name: p,', 'name: q,') ?? '');
    await clock.advance('1m');
    expect(await clock.until(phase('q')())).toBe(false);
    expect(await clock.until(disks('n2'))).toEqual([]);
    await clock.until(client.of(core.Pod).delete(POD));
    await cluster.waitFor(phase('q'), { what: 'the second pod' });
    expect(await clock.until(disks('n1'))).toEqual([]);
    expect(await clock.until(disks('n2'))).toEqual([DISK]);
    const { items } = await clock.until(client.of(core.Event).list({ namespace: 'default' }));
    const messages = items.map(({ message }) => message);
    expect(messages).toContain('AttachVolume.Attach succeeded for volume "pv" ');
    expect(messages).toContain('Multi-Attach error for volume "pv" Volume is already used by pod(s) p');
  });

  it('of a claim that is bound a moment after its pod are no failure', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
    await cluster.apply(`${VOLUME.replace(/csi: .*/, 'hostPath: { path: /data }')}\n---\n${objects('n1').split('---')[0]}`);
    await cluster.waitFor(async () => (await cluster.client.of(core.PersistentVolume).get({ name: 'pv' })).status?.phase === 'Bound', {
      what: 'the volume',
    });
    const claims = cluster.client.of(core.PersistentVolumeClaim);
    const key = { name: 'c', namespace: 'default' };
    await cluster.clock.until(claims.patch(key, { status: { phase: 'Pending' } }, { subresource: 'status' }));
    await cluster.apply(objects('n1').split('---')[1] ?? '');
    await cluster.waitFor(async () => (await phaseOf(cluster)) === 'Running', { what: 'the pod' });
    const { items } = await cluster.clock.until(cluster.client.of(core.Event).list({ namespace: 'default' }));
    expect(items.filter(({ reason }) => reason === 'FailedMount').map(({ message }) => message)).toEqual([]);
  });

  it('are let go by a kubelet that was restarted meanwhile', async () => {
    await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
    await cluster.apply(`${VOLUME}\n---\n${objects('n1')}`);
    await cluster.waitFor(async () => (await attached(cluster)) === 'n1', { what: 'the attachment' });
    await attach(cluster);
    await cluster.waitFor(async () => (await phaseOf(cluster)) === 'Running', { what: 'the pod' });
    await cluster.clock.until(cluster.node('n1').restart());
    await cluster.clock.until(cluster.client.of(core.Pod).delete(POD));
    await cluster.waitFor(async () => (await attached(cluster)) === '', { what: 'the detachment' });
  });

  it.each([
    ['six minutes', false],
    ['the taint of a node that is out of service', true],
  ])('of a machine that failed are detached after %s, and not before', async (_, isTainted) => {
    await using cluster = await startCluster({ nodes: 2, clock: 'virtual' });
    await cluster.apply(`${VOLUME}\n---\n${objects('n1')}`);
    await cluster.waitFor(async () => (await attached(cluster)) === 'n1', { what: 'the attachment' });
    await attach(cluster);
    await cluster.waitFor(async () => (await phaseOf(cluster)) === 'Running', { what: 'the pod' });
    await cluster.clock.until(cluster.node('n1').crash());
    await cluster.clock.advance('2m');
    await cluster.clock.until(cluster.client.of(core.Pod).delete(POD, { gracePeriodSeconds: 0 }));
    await cluster.clock.advance('4m');
    expect(await cluster.clock.until(attached(cluster))).toBe('n1');
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
    if (isTainted) await cluster.clock.until(cluster.client.of(core.Node).patch({ name: 'n1' }, { spec: { taints } }));
    await cluster.clock.advance(isTainted ? '10s' : '4m');
    expect(await cluster.clock.until(attached(cluster))).toBe('');
  });
});
