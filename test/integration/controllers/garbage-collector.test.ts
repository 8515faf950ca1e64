import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { core, type meta } from '#api';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';

const ONLY = { controllers: ['garbage-collector-controller'] };

async function create(client: Client, name: string, owners: readonly Partial<meta.OwnerReference>[] = []): Promise<core.ConfigMap> {
  const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: '', uid: '', ...owner }));
  return client.of(core.ConfigMap).create({ metadata: { name, namespace: 'default', ownerReferences } });
}

const refTo = ({ metadata: { name, uid = '' } }: core.ConfigMap, overrides: Partial<meta.OwnerReference> = {}) => ({
  name,
  uid,
  ...overrides,
});

async function names({ client, clock }: ControlPlane): Promise<string[]> {
  await clock.advance(60_000);
  return (await testMaps(client)).map(({ metadata }) => metadata.name);
}

/** The server creates some of its own. */
async function testMaps(client: Client): Promise<readonly core.ConfigMap[]> {
  const { items } = await client.of(core.ConfigMap).list();
  return items.filter(({ metadata }) => metadata.namespace !== 'kube-system');
}

describe('the garbage collector', () => {
  it('deletes whole trees in the background', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client } = plane;
    const root = await create(client, 'root');
    const child = await create(client, 'child', [refTo(root)]);
    await create(client, 'grandchild', [refTo(child)]);
    await create(client, 'other');
    await client.of(core.ConfigMap).delete(root.metadata, { propagationPolicy: 'Background' });
    expect(await names(plane)).toEqual(['other']);
  });

  it('keeps the owner until its dependents are gone when deleted in the foreground', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client, clock } = plane;
    const maps = client.of(core.ConfigMap);
    const root = await create(client, 'root');
    const child = await create(client, 'child', [refTo(root, { blockOwnerDeletion: true })]);
    await maps.patch(child.metadata, { metadata: { finalizers: ['example.com/hold'] } });
    await maps.delete(root.metadata, { propagationPolicy: 'Foreground' });
    await clock.advance(60_000);
    const waiting = await maps.get(root.metadata);
    expect(waiting.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect((await maps.get(child.metadata)).metadata.deletionTimestamp).toBeDefined();
    await maps.patch(child.metadata, { metadata: { finalizers: null } });
    expect(await names(plane)).toEqual([]);
  });

  it('lets dependents live on when the owner is deleted as orphaning', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client } = plane;
    const root = await create(client, 'root');
    await create(client, 'child', [refTo(root)]);
    await client.of(core.ConfigMap).delete(root.metadata, { propagationPolicy: 'Orphan' });
    expect(await names(plane)).toEqual(['child']);
    const child = await client.of(core.ConfigMap).get({ name: 'child', namespace: 'default' });
    expect(child.metadata.ownerReferences ?? []).toEqual([]);
  });

  it('resolves circles of foreground deletions', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client } = plane;
    const maps = client.of(core.ConfigMap);
    const a = await create(client, 'a');
    const b = await create(client, 'b', [refTo(a, { blockOwnerDeletion: true })]);
    await maps.patch(a.metadata, {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', ...refTo(b, { blockOwnerDeletion: true }) }] },
    });
    await maps.delete(a.metadata, { propagationPolicy: 'Foreground' });
    expect(await names(plane)).toEqual([]);
  });

  it('tells of owners in another namespace, and deletes what refers to them', async () => {
    await using plane = await startControlPlane(ONLY);
    const { client } = plane;
    await client.of(core.Namespace).create({ metadata: { name: 'other' } });
    const owner = await client.of(core.ConfigMap).create({ metadata: { name: 'owner', namespace: 'other' } });
    const bad = await create(client, 'bad', [refTo(owner)]);
    expect(await names(plane)).toEqual(['owner']);
    const [event] = (await client.of(core.Event).list({ namespace: 'default' })).items;
    expect(event).toMatchObject({
      reason: 'OwnerRefInvalidNamespace',
      type: 'Warning',
      message: `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
      involvedObject: { kind: 'ConfigMap', name: 'bad', uid: bad.metadata.uid },
      source: { component: 'garbage-collector-controller' },
    });
  });

  it('collects what lost its owner while no collector ran', async () => {
    await using plane = await startControlPlane({ controllers: ['serviceaccount-controller'] });
    const { client } = plane;
    const root = await create(client, 'root');
    await create(client, 'child', [refTo(root)]);
    await client.of(core.ConfigMap).delete(root.metadata);
    expect(await names(plane)).toEqual(['child']);
    await using later = await startControlPlane(ONLY);
    await create(later.client, 'late', [{ name: 'never', uid: 'never' }]);
    expect(await names(later)).toEqual([]);
  });

  /** The objects that remain when the collector is idle: those without owners, and their dependents. */
  it('leaves exactly what has a living owner, whatever is created and deleted, and however often it restarts', async () => {
    const name = fc.nat(7).map((n) => `m${n}`);
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), name, owners: fc.uniqueArray(name, { maxLength: 2 }) }) },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('delete' as const), name, policy: fc.constantFrom('Background', 'Foreground') }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(5000) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer(), async (steps, seed) => {
        await using plane = await startControlPlane({ ...ONLY, seed });
        const { client, clock } = plane;
        const maps = client.of(core.ConfigMap);
        const objects = new Map<string, { uid: string; owners: readonly string[]; wasDeleted: boolean }>();
        const current = new Map<string, string>();
        for (const change of steps) {
          if (change.do === 'restart') await plane.restartControllers();
          else if (change.do === 'wait') await clock.advance(change.ms);
          else if (change.do === 'delete') await remove(change.name, change.policy as 'Background' | 'Foreground');
          else await make(change.name, change.owners);
        }
        async function make(key: string, owners: readonly string[]): Promise<void> {
          const references = owners.flatMap((owner) => {
            const uid = current.get(owner);
            return uid === undefined || owner === key ? [] : [{ name: owner, uid, blockOwnerDeletion: true }];
          });
          try {
            const { metadata } = await create(client, key, references);
            current.set(key, metadata.uid!);
            objects.set(metadata.uid!, { uid: metadata.uid!, owners: references.map(({ uid }) => uid), wasDeleted: false });
          } catch (error) {
            if (!isStatusReason(error, 'AlreadyExists')) throw error;
          }
        }
        async function remove(key: string, propagationPolicy: 'Background' | 'Foreground'): Promise<void> {
          try {
            const { metadata } = await maps.get({ name: key, namespace: 'default' });
            await maps.delete(metadata, { propagationPolicy });
            objects.get(metadata.uid!)!.wasDeleted = true;
          } catch (error) {
            if (!isStatusReason(error, 'NotFound')) throw error;
          }
        }
        await clock.advance(3_600_000);
        const living = (uid: string): boolean => {
          const object = objects.get(uid);
          if (object === undefined || object.wasDeleted) return false;
          return object.owners.length === 0 || object.owners.some(living);
        };
        const left = (await testMaps(client)).map(({ metadata }) => metadata.uid!).sort();
        expect(left).toEqual([...objects.keys()].filter(living).sort());
      }),
      { numRuns: 25 },
    );
  });
});
