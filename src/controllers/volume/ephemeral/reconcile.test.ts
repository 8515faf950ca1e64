import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { claimFor, ephemeralVolumesOf } from './reconcile.ts';

const TEMPLATE = { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { accessModes: ['ReadWriteOnce'] } };
const DATA: core.Volume = { name: 'data', ephemeral: { volumeClaimTemplate: TEMPLATE } };
const POD: core.Pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], volumes: [{ name: 'tmp', emptyDir: {} }, DATA] },
};

describe('an ephemeral volume', () => {
  it('is found among the volumes of its pod', () => {
    expect(ephemeralVolumesOf(POD)).toEqual([DATA]);
  });

  it('gets a claim that is named after both, belongs to the pod and is as its template says', () => {
    expect(claimFor(POD, DATA)).toEqual({
      metadata: {
        name: 'p-data',
        namespace: 'n',
        labels: { a: 'b' },
        annotations: { c: 'd' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true, blockOwnerDeletion: true }],
      },
      spec: { accessModes: ['ReadWriteOnce'] },
    });
  });
});
