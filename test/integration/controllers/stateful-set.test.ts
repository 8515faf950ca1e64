import { describe, expect, it } from 'vitest';
import { apps, core } from '#api';
import { seededRandom } from '#base';
import { actAsKubelet, type Plane, podsOf, startWorkloads } from './workload-actors.ts';

const key = { name: 'db', namespace: 'default' };
const CLAIM = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };

async function create({ client }: Plane, spec: Partial<apps.StatefulSetSpec> = {}): Promise<void> {
  const labels = { app: 'db' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'img:0' }] } };
  await client.of(apps.StatefulSet).create({
    metadata: key,
    spec: { replicas: 3, serviceName: 'db', selector: { matchLabels: labels }, template, ...spec },
  });
}

async function setImage({ client }: Plane, image: string): Promise<void> {
  const template = { spec: { containers: [{ name: 'c', image }] } };
  await client.of(apps.StatefulSet).patch(key, { spec: { template } }, { type: 'strategic' });
}

/** Advances time and makes pods ready until the set has all its replicas. */
async function settle(plane: Plane): Promise<apps.StatefulSet> {
  const random = seededRandom(1);
  const sets = plane.client.of(apps.StatefulSet);
  await plane.until(async () => {
    await actAsKubelet(plane, random, 1);
    const { spec, status, metadata } = await sets.get(key);
    const isCurrent = status?.currentRevision === status?.updateRevision && status?.observedGeneration === metadata.generation;
    return isCurrent && (status?.readyReplicas ?? 0) === spec?.replicas;
  });
  return sets.get(key);
}

async function eventsOf({ client }: Plane): Promise<readonly string[]> {
  const { items } = await client.of(core.Event).list({ namespace: 'default', fieldSelector: 'involvedObject.kind=StatefulSet' });
  return items.map(({ reason, message, count }) => `${reason} ${count}: ${message}`);
}

describe('a stateful set', () => {
  it('replaces each of its pods once when its template changes, the highest first', async () => {
    await using plane = await startWorkloads(51);
    await create(plane);
    await settle(plane);
    await setImage(plane, 'img:1');
    const { status } = await settle(plane);
    expect(status).toMatchObject({ replicas: 3, currentReplicas: 3, updatedReplicas: 3 });
    expect((await podsOf(plane)).map(({ spec }) => spec?.containers[0]?.image)).toEqual(['img:1', 'img:1', 'img:1']);
    // As upstream, pods have generateName although it is not used.
    expect((await podsOf(plane)).map(({ metadata }) => metadata.generateName)).toEqual(['db-', 'db-', 'db-']);
    const deletions = (await eventsOf(plane)).filter((event) => event.startsWith('SuccessfulDelete'));
    expect(deletions).toEqual(
      ['db-2', 'db-1', 'db-0'].map((name) => `SuccessfulDelete 1: Delete Pod ${name} in StatefulSet db successful`),
    );
  });

  it('tells its state even when no pod can be made', async () => {
    await using plane = await startWorkloads(52);
    await plane.client.of(core.ResourceQuota).create({ metadata: { name: 'none', namespace: 'default' }, spec: { hard: { pods: '0' } } });
    await plane.clock.advance(1000);
    await create(plane);
    await plane.clock.advance(1000);
    const { status } = await plane.client.of(apps.StatefulSet).get(key);
    expect(status).toMatchObject({ observedGeneration: 1, replicas: 0, updateRevision: expect.stringMatching(/^db-/) });
    const [event] = await eventsOf(plane);
    expect(event).toMatch(/^FailedCreate \d+: Create Pod db-0 in StatefulSet db failed error: pods "db-0" is forbidden: exceeded quota/);
  });

  it('makes a claim anew that a pod still waits for', async () => {
    await using plane = await startWorkloads(53);
    await create(plane, { replicas: 1, volumeClaimTemplates: [CLAIM] });
    await plane.clock.advance(1000);
    const claims = plane.client.of(core.PersistentVolumeClaim);
    const { metadata } = await claims.get({ name: 'data-db-0', namespace: 'default' });
    await claims.patch(metadata, { metadata: { finalizers: null } });
    await claims.delete(metadata);
    await plane.client.of(core.Pod).patch({ name: 'db-0', namespace: 'default' }, { metadata: { labels: { touched: 'y' } } });
    await plane.clock.advance(60_000);
    expect((await claims.get({ name: 'data-db-0', namespace: 'default' })).metadata.uid).not.toBe(metadata.uid);
  });

  it('takes over the revisions that one of its name left behind', async () => {
    await using plane = await startWorkloads(54);
    await create(plane, { replicas: 0 });
    await plane.clock.advance(1000);
    const revisions = plane.client.of(apps.ControllerRevision);
    const [left] = (await revisions.list({ namespace: 'default' })).items;
    await revisions.patch(left!.metadata, { metadata: { ownerReferences: null } });
    await plane.client.of(apps.StatefulSet).delete(key);
    await plane.clock.advance(1000);
    await create(plane, { replicas: 0 });
    await plane.clock.advance(1000);
    const { items } = await revisions.list({ namespace: 'default' });
    const { metadata } = await plane.client.of(apps.StatefulSet).get(key);
    expect(items.map((revision) => revision.metadata.name)).toEqual([left!.metadata.name]);
    expect(items[0]?.metadata.ownerReferences).toMatchObject([{ uid: metadata.uid, controller: true }]);
  });
});
