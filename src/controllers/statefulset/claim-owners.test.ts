import { describe, expect, it } from 'vitest';
import type { apps, core, meta } from '#api';
import { claimChanges, hasStaleClaim, ownsItsClaims } from './claim-owners.ts';

const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'set', controller: true, blockOwnerDeletion: true };
const POD = { apiVersion: 'v1', kind: 'Pod', name: 'db-1', uid: 'pod', controller: true, blockOwnerDeletion: true };
const OTHER = { apiVersion: 'x.io/v1', kind: 'Keeper', name: 'k', uid: 'keeper', controller: true };

function setOf(policy: Partial<apps.StatefulSetPersistentVolumeClaimRetentionPolicy>, replicas = 2): apps.StatefulSet {
  return {
    metadata: { name: 'db', uid: 'set' },
    spec: { replicas, persistentVolumeClaimRetentionPolicy: policy, volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
  } as unknown as apps.StatefulSet;
}

const pod = { metadata: { name: 'db-1', uid: 'pod' } } as core.Pod;
const claimed = (owners: readonly meta.OwnerReference[]) => (name: string) =>
  name === 'data-db-1' ? ({ metadata: { name, ownerReferences: [...owners] } } as core.PersistentVolumeClaim) : undefined;

describe('the claim of a pod', () => {
  it.each<
    [
      string,
      Partial<apps.StatefulSetPersistentVolumeClaimRetentionPolicy>,
      number,
      readonly meta.OwnerReference[],
      readonly meta.OwnerReference[] | undefined,
    ]
  >([
    ['belongs to nobody when it is to stay', {}, 2, [], undefined],
    ['is given up when it is to stay from now on', {}, 2, [SET], []],
    ['belongs to the set when it is to go with it', { whenDeleted: 'Delete' }, 2, [], [SET]],
    ['is right when it belongs to the set', { whenDeleted: 'Delete' }, 2, [SET], undefined],
    ['is to belong to the set as to its controller', { whenDeleted: 'Delete' }, 2, [{ ...SET, controller: false }], [SET]],
    ['belongs to nobody while its pod is wanted', { whenScaled: 'Delete' }, 2, [], undefined],
    ['belongs to its pod when that is to go', { whenScaled: 'Delete' }, 1, [], [POD]],
    ['goes with its pod, no longer with the set', { whenScaled: 'Delete', whenDeleted: 'Delete' }, 1, [SET], [POD]],
    ['belongs to the set again when its pod is wanted again', { whenScaled: 'Delete', whenDeleted: 'Delete' }, 2, [POD], [SET]],
    ['is left to another who manages it', { whenDeleted: 'Delete' }, 2, [OTHER], undefined],
    ['is given up to another who manages it', { whenDeleted: 'Delete' }, 2, [SET, OTHER], [OTHER]],
    ['is left alone when it belongs to a set of that name before', { whenDeleted: 'Delete' }, 2, [{ ...SET, uid: 'before' }], undefined],
  ])('%s', (_name, policy, replicas, owners, expected) => {
    const set = setOf(policy, replicas);
    const [change] = claimChanges(set, pod, claimed(owners));
    expect(change?.desired?.metadata.ownerReferences).toEqual(expected);
    expect(ownsItsClaims(set, pod, claimed(owners))).toBe(expected === undefined);
  });

  it('is contested when another manages what the set would have go', () => {
    expect(claimChanges(setOf({ whenDeleted: 'Delete' }), pod, claimed([OTHER]))[0]?.isContested).toBe(true);
    expect(claimChanges(setOf({}), pod, claimed([OTHER]))[0]?.isContested).toBe(false);
  });

  it('is not taken over from a pod of that name that it is to go with', () => {
    expect(hasStaleClaim(setOf({ whenScaled: 'Delete' }), 1, claimed([POD]))).toBe(true);
    expect(hasStaleClaim(setOf({ whenScaled: 'Delete' }), 1, claimed([SET]))).toBe(false);
    expect(hasStaleClaim(setOf({}), 1, claimed([POD]))).toBe(false);
  });
});
