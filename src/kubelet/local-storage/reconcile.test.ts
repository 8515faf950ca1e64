import { describe, expect, it } from 'vitest';
import type { core, storage } from '#api';
import { claimAction, newVolume, volumeAction } from './reconcile.ts';

const CLASS = {
  metadata: { name: 'standard' },
  provisioner: 'sampan.dev/local',
  volumeBindingMode: 'WaitForFirstConsumer',
} as storage.StorageClass;
const claim = (
  over: Partial<core.PersistentVolumeClaim['spec']> = {},
  annotations: Record<string, string> = {},
): core.PersistentVolumeClaim => ({
  metadata: {
    ...{ name: 'c', namespace: 'n', uid: 'u' },
    annotations: { 'volume.kubernetes.io/storage-provisioner': 'sampan.dev/local', ...annotations },
  },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'standard', resources: { requests: { storage: '1Gi' } }, ...over },
});
const SELECTED = { 'volume.kubernetes.io/selected-node': 'node-1' };
const volume = (): core.PersistentVolume => newVolume({ claim: claim(), storageClass: CLASS, hostname: 'node-1', path: '/data/pvc-u' });

describe('a claim of the default class', () => {
  it('waits for its first pod', () => {
    expect(claimAction(claim(), undefined, CLASS)).toEqual({ type: 'none' });
  });

  it('is provisioned on the node of its first pod', () => {
    expect(claimAction(claim({}, SELECTED), undefined, CLASS)).toEqual({ type: 'provision', nodeName: 'node-1' });
  });

  it('is provisioned anywhere where the class does not wait', () => {
    expect(claimAction(claim(), undefined, { ...CLASS, volumeBindingMode: 'Immediate' })).toEqual({
      type: 'provision',
      nodeName: undefined,
    });
  });

  it('of another provisioner is not ours', () => {
    const other = claim({}, { ...SELECTED, 'volume.kubernetes.io/storage-provisioner': 'x' });
    expect(claimAction(other, undefined, CLASS)).toEqual({ type: 'none' });
  });

  it.each<[Partial<core.PersistentVolumeClaim['spec']>, storage.StorageClass, string]>([
    [{ selector: { matchLabels: { a: 'b' } } }, CLASS, 'claim.Spec.Selector is not supported for dynamic provisioning'],
    [
      { dataSource: { kind: 'PersistentVolumeClaim', name: 'x' } },
      CLASS,
      'volumes of this class cannot be cloned; use a CSI driver that can',
    ],
    [
      { dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' } },
      CLASS,
      'volumes of this class cannot be restored from snapshots; use a CSI driver that can',
    ],
    [{}, { ...CLASS, parameters: { type: 'ssd' } }, 'unknown parameter "type"; the only one is "backing"'],
    [{ volumeMode: 'Block', resources: { requests: { storage: '20Ei' } } }, CLASS, '20Ei is more than a file can hold'],
    [{}, { ...CLASS, parameters: { backing: 'nfs' } }, 'parameter backing is "nfs"; it must be "directory", "quota" or "loop"'],
  ])('cannot be served when it is %j', (over, storageClass, message) => {
    expect(claimAction(claim(over, SELECTED), undefined, storageClass)).toEqual({ type: 'fail', message });
  });

  it('is left to whoever populates it when it names a source of a foreign kind', () => {
    const dataSourceRef = { apiGroup: 'example.com', kind: 'Dump', name: 'x' };
    expect(claimAction(claim({ dataSourceRef }, SELECTED), undefined, CLASS)).toEqual({ type: 'leave-to-populator' });
  });

  it('gets a device where it asks for one', () => {
    const raw = newVolume({ claim: claim({ volumeMode: 'Block' }), storageClass: CLASS, hostname: 'node-1', path: '/data/pvc-u/device' });
    expect(raw.spec?.volumeMode).toBe('Block');
    expect(raw.metadata.annotations?.['sampan.dev/backing']).toBe('block');
  });

  it('grows until the volume and the claim have what is asked for', () => {
    const bound = {
      ...claim({ volumeName: 'pvc-u', resources: { requests: { storage: '2Gi' } } }),
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    };
    expect(claimAction(bound, volume(), CLASS)).toEqual({ type: 'expand', storage: '2Gi' });
    const grown = { ...volume(), spec: { ...volume().spec, capacity: { storage: '2Gi' } } };
    expect(claimAction(bound, grown, CLASS)).toEqual({ type: 'expand', storage: '2Gi' });
    const done = { ...bound, status: { phase: 'Bound', capacity: { storage: '2Gi' } } };
    expect(claimAction(done, grown, CLASS)).toEqual({ type: 'none' });
  });
});

describe('a volume of the default class', () => {
  it.each<[string, Partial<core.PersistentVolume>, string]>([
    ['in use stays', { status: { phase: 'Bound' } }, 'none'],
    ['that was released goes', { status: { phase: 'Released' } }, 'delete'],
    [
      'that is to be retained stays',
      { status: { phase: 'Released' }, spec: { ...volume().spec, persistentVolumeReclaimPolicy: 'Retain' } },
      'none',
    ],
    ['that somebody deleted is finalized', { metadata: { ...volume().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'finalize'],
    [
      'that somebody deleted stays as long as a claim has it',
      { metadata: { ...volume().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { phase: 'Bound' } },
      'none',
    ],
    ['of somebody else is left alone', { metadata: { name: 'x' }, status: { phase: 'Released' } }, 'none'],
  ])('%s', (_name, over, expected) => {
    expect(volumeAction({ ...volume(), ...over })).toBe(expected);
  });
});
