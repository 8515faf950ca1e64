import { describe, expect, it } from 'vitest';
import { withVolumeMigration } from '../migrated-plugins.ts';
import { claimBoundTo, claimInPhase, claimWithVolumeStatus, volumeBoundTo, volumeInPhase, volumeUnbound } from './binding.ts';
import { claimOf, volumeOf } from './claims.test-data.ts';

const BY_CONTROLLER = { 'pv.kubernetes.io/bound-by-controller': 'yes' };

describe('binding', () => {
  it('annotates what the controller chose on claim and volume, and is idempotent', () => {
    const volume = volumeBoundTo(volumeOf('a'), claimOf());
    expect(volume.spec?.claimRef).toMatchObject({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      name: 'c',
      namespace: 'n',
      uid: 'claim-uid',
    });
    expect(volume.metadata.annotations).toEqual(BY_CONTROLLER);
    expect(volumeBoundTo(volume, claimOf())).toBe(volume);
    const claim = claimBoundTo(claimOf(), volume);
    expect(claim.spec?.volumeName).toBe('a');
    expect(claim.metadata.annotations).toEqual({ ...BY_CONTROLLER, 'pv.kubernetes.io/bind-completed': 'yes' });
    expect(claimBoundTo(claim, volume)).toBe(claim);
  });

  it('does not mark what the user chose', () => {
    const reserved = volumeOf('a', { spec: { claimRef: { name: 'c', namespace: 'n' } } });
    const volume = volumeBoundTo(reserved, claimOf());
    expect(volume.spec?.claimRef?.uid).toBe('claim-uid');
    expect(volume.metadata.annotations).toBeUndefined();
    const claim = claimBoundTo(claimOf({ spec: { volumeName: 'a' } }), volume);
    expect(claim.metadata.annotations).toEqual({ 'pv.kubernetes.io/bind-completed': 'yes' });
  });

  it('is undone except for fields that the user set', () => {
    const chosen = volumeOf('a', { spec: { claimRef: { name: 'c', namespace: 'n', uid: 'u' } } });
    expect(volumeUnbound(chosen).spec?.claimRef).toEqual({ name: 'c', namespace: 'n' });
    const free = volumeUnbound(volumeBoundTo(volumeOf('a'), claimOf()));
    expect(free.spec?.claimRef).toBeUndefined();
    expect(free.metadata.annotations).toEqual({});
  });

  it('gives a claim the size and modes of its volume, and takes them away again', () => {
    const volume = volumeOf('a', { spec: { capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } });
    const claim = claimWithVolumeStatus(claimOf(), volume);
    expect(claim.status).toEqual({ phase: 'Bound', capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] });
    expect(claimWithVolumeStatus(claim, volume)).toBe(claim);
    const grown = { ...volume, spec: { ...volume.spec, capacity: { storage: '9Gi' } } };
    expect(claimWithVolumeStatus(claim, grown)).toBe(claim);
    expect(claimInPhase(claim, 'Lost').status).toEqual({ phase: 'Lost' });
  });

  it('cannot be of a volume without a size', () => {
    expect(() => claimWithVolumeStatus(claimOf(), volumeOf('a', { spec: { capacity: {} } }))).toThrow('is without a storage capacity');
  });

  it('says why a volume failed, until it has another phase', () => {
    const failed = volumeInPhase(volumeOf('a'), 'Failed', 'no plugin');
    expect(failed.status).toEqual({ phase: 'Failed', message: 'no plugin' });
    expect(volumeInPhase(failed, 'Available').status).toEqual({ phase: 'Available' });
  });
});

describe('a volume of a plugin that was built in', () => {
  const provisionedVolume = (provisioner: string, policy: string, finalizers: string[]) =>
    volumeOf('a', {
      metadata: { finalizers, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
      spec: { persistentVolumeReclaimPolicy: policy },
    });
  it.each<[string, string, string, string[], string[]]>([
    ['is no longer protected by the controller', 'kubernetes.io/aws-ebs', 'Delete', ['x', 'kubernetes.io/pv-controller'], ['x']],
    ['is protected when nothing took over', 'kubernetes.io/rbd', 'Delete', ['x'], ['x', 'kubernetes.io/pv-controller']],
    ['is not protected when it is retained', 'kubernetes.io/rbd', 'Retain', ['kubernetes.io/pv-controller'], []],
    ['is left alone when it is from outside', 'example.com/disk', 'Delete', ['x'], ['x']],
  ])('%s', (_name, provisioner, policy, finalizers, expected) => {
    const volume = withVolumeMigration(provisionedVolume(provisioner, policy, finalizers));
    expect(volume.metadata.finalizers).toEqual(expected);
    expect(withVolumeMigration(volume)).toBe(volume);
  });

  it('names the driver that took over', () => {
    const { metadata } = withVolumeMigration(provisionedVolume('kubernetes.io/gce-pd', 'Delete', []));
    expect(metadata.annotations?.['pv.kubernetes.io/migrated-to']).toBe('pd.csi.storage.gke.io');
  });
});
