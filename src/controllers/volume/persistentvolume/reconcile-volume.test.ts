import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { claimOf, volumeOf } from './claims.test-data.ts';
import { mustAskForClaim, type ReclaimAction, reclaim, reconcileVolume, type VolumeAction } from './reconcile-volume.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

const REF = { name: 'c', namespace: 'n', uid: 'claim-uid' };
const claimedVolume = (changes: Partial<core.PersistentVolumeSpec> = {}, annotations = {}) =>
  volumeOf('a', { metadata: { annotations }, spec: { claimRef: REF, ...changes } });
const claimWith = (volumeName: string) => claimOf({ spec: { volumeName } });

describe('a volume', () => {
  it.each<[string, Volume, Claim | undefined, VolumeAction['type'], string?]>([
    ['is available without a claim', volumeOf('a'), undefined, 'set-phase', 'Available'],
    [
      'is available when it is only reserved',
      volumeOf('a', { spec: { claimRef: { name: 'c', namespace: 'n' } } }),
      claimOf(),
      'set-phase',
      'Available',
    ],
    ['is bound when its claim has it', claimedVolume(), claimWith('a'), 'set-phase', 'Bound'],
    ['is released when its claim is gone', claimedVolume(), undefined, 'release'],
    ['is released when its claim was replaced', claimedVolume(), claimOf({ metadata: { uid: 'new' } }), 'release'],
    ['tells its claim of itself', claimedVolume(), claimOf(), 'tell-claim'],
    ['is free again when its claim has another', claimedVolume(), claimWith('b'), 'unbind'],
    [
      'goes when it was made for a claim that has another',
      claimedVolume({ persistentVolumeReclaimPolicy: 'Delete' }, { 'pv.kubernetes.io/provisioned-by': 'x' }),
      claimWith('b'),
      'release',
    ],
    ['says when it can never be bound', claimedVolume({ volumeMode: 'Block' }), claimOf(), 'report-mismatch'],
  ])('%s', (_name, volume, claim, type, phase) => {
    expect(reconcileVolume(volume, claim)).toMatchObject({ type, ...(phase && { phase }) });
  });

  it.each<[string, Volume, Claim | undefined, boolean]>([
    ['when it is not in the cache', claimedVolume(), undefined, true],
    ['when another is in the cache', claimedVolume(), claimOf({ metadata: { uid: 'new' } }), true],
    ['but not when it is in the cache', claimedVolume(), claimOf(), false],
    ['but not when the volume is released already', { ...claimedVolume(), status: { phase: 'Released' } }, undefined, false],
    ['but not when there is none', volumeOf('a'), undefined, false],
  ])('has the server asked for its claim %s', (_name, volume, cached, expected) => {
    expect(mustAskForClaim(volume, cached)).toBe(expected);
  });
});

describe('a released volume', () => {
  const deleted = (spec: Partial<core.PersistentVolumeSpec>, annotations = {}) =>
    claimedVolume({ persistentVolumeReclaimPolicy: 'Delete', ...spec }, annotations);
  const user = (name: string, phase: string): core.Pod => ({ metadata: { name, namespace: 'n' }, status: { phase } });
  it.each<[string, Volume, readonly core.Pod[], ReclaimAction['type'], string?]>([
    ['is retained', claimedVolume(), [], 'keep'],
    ['is left to its CSI driver', deleted({ csi: { driver: 'd', volumeHandle: 'h' } }), [], 'keep'],
    ['is left to its provisioner', deleted({}, { 'pv.kubernetes.io/provisioned-by': 'example.com/disk' }), [], 'keep'],
    ['is left to the driver that it was moved to', deleted({}, { 'pv.kubernetes.io/migrated-to': 'ebs.csi.aws.com' }), [], 'keep'],
    [
      'fails without a plugin that deletes it',
      deleted({ local: { path: '/x' } }),
      [],
      'fail',
      'error getting deleter volume plugin for volume "a": no volume plugin matched',
    ],
    [
      'fails with a plugin that cannot delete',
      deleted({ nfs: { server: 's', path: '/x' } }),
      [],
      'fail',
      'error getting deleter volume plugin for volume "a": no deletable volume plugin matched',
    ],
    [
      'fails when it is a path of a host that may hold more than a volume',
      deleted({ hostPath: { path: '/x' } }),
      [],
      'fail',
      'host_path deleter only supports /tmp/.+ but received provided /x',
    ],
    [
      'fails when the plugin that made it is not there',
      deleted({}, { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/rbd' }),
      [],
      'fail',
      'no volume plugin matched name: kubernetes.io/rbd',
    ],
    [
      'fails without a plugin that recycles it',
      claimedVolume({ persistentVolumeReclaimPolicy: 'Recycle' }),
      [user('p', 'Succeeded')],
      'fail',
      'No recycler plugin found for the volume!',
    ],
    [
      'is recycled by a pod',
      claimedVolume({ persistentVolumeReclaimPolicy: 'Recycle', nfs: { server: 's', path: '/p' } }),
      [],
      'recycle',
      '',
    ],
    [
      'is not recycled while pods use it',
      claimedVolume({ persistentVolumeReclaimPolicy: 'Recycle' }),
      [user('q', 'Running'), user('p', 'Running')],
      'report',
      'Volume is used by pods: n/p,n/q',
    ],
    [
      'fails when nobody knows its policy',
      claimedVolume({ persistentVolumeReclaimPolicy: 'Burn' }),
      [],
      'fail',
      'Volume has unrecognized PersistentVolumeReclaimPolicy',
    ],
  ])('%s', (_name, volume, pods, type, message) => {
    expect(reclaim(volume, pods)).toMatchObject({ type, ...(message && { event: { message } }) });
  });
});
