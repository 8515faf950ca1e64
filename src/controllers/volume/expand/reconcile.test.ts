import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { expansionOf, hasGrown, isBoundTo } from './reconcile.ts';

const claim = (wants: string, has: string): core.PersistentVolumeClaim => ({
  metadata: { name: 'c', namespace: 'n', uid: 'u' },
  spec: { volumeName: 'v', resources: { requests: { storage: wants } } },
  status: { phase: 'Bound', capacity: { storage: has } },
});

const volume = (source: object, annotations: Readonly<Record<string, string>> = {}): core.PersistentVolume => ({
  metadata: { name: 'v', annotations: { ...annotations } },
  spec: { ...source, claimRef: { name: 'c', namespace: 'n', uid: 'u' } },
});

const CSI = { csi: { driver: 'd.example.com', volumeHandle: 'h' } };
const EXTERNAL = { message: 'waiting for an external controller to expand this PVC' };

describe('the expansion of a claim', () => {
  it.each<[string, core.PersistentVolumeClaim, core.PersistentVolume, object | undefined]>([
    ['is nothing when it has what it wants', claim('1Gi', '1Gi'), volume(CSI), undefined],
    ['is nothing when it has more', claim('1Gi', '2Gi'), volume(CSI), undefined],
    ['is the business of its driver', claim('2Gi', '1Gi'), volume(CSI), EXTERNAL],
    [
      'goes on until the file system has grown',
      claim('1Gi', '1Gi'),
      volume(CSI, { 'volume.alpha.kubernetes.io/pre-resize-capacity': '1Gi' }),
      EXTERNAL,
    ],
    [
      'is the business of the driver that took over from a plugin',
      claim('2Gi', '1Gi'),
      volume({ awsElasticBlockStore: { volumeID: 'x' } }),
      {
        message: 'CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc',
        resizer: 'ebs.csi.aws.com',
      },
    ],
  ])('%s', (_name, observedClaim, of, expected) => {
    expect(expansionOf(observedClaim, of)).toEqual(expected);
  });

  it('is looked at when more is asked for, or there', () => {
    expect(hasGrown(claim('1Gi', '1Gi'), claim('2Gi', '1Gi'))).toBe(true);
    expect(hasGrown(claim('2Gi', '1Gi'), claim('2Gi', '2Gi'))).toBe(true);
    expect(hasGrown(claim('1Gi', '1Gi'), claim('1024Mi', '1Gi'))).toBe(false);
  });

  it('is only that of the claim that the volume is bound to', () => {
    expect(isBoundTo(claim('2Gi', '1Gi'), volume(CSI))).toBe(true);
    expect(isBoundTo({ metadata: { name: 'c', namespace: 'n', uid: 'other' } }, volume(CSI))).toBe(false);
  });
});
