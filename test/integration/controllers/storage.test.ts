import { describe, expect, it } from 'vitest';
import { core } from '#api';
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

/** Whether a read finds nothing any more. */
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
    const kept = await clock.until(claims.get(DATA));
    expect(kept.metadata.deletionTimestamp).toBeDefined();
    expect(kept.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    await clock.until(client.of(core.Pod).delete({ name: 'user', namespace: 'work' }));
    await cluster.waitFor(() => isGone(claims.get(DATA)), { what: 'the end of the claim' });
  });
});
