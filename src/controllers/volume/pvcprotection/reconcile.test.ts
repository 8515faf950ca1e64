import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { usesClaim } from './reconcile.ts';

const CLAIM: core.PersistentVolumeClaim = {
  metadata: {
    name: 'p-data',
    namespace: 'n',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }],
  },
};
const NAMED: core.Volume = { name: 'v', persistentVolumeClaim: { claimName: 'p-data' } };
const EPHEMERAL: core.Volume = { name: 'data', ephemeral: { volumeClaimTemplate: { spec: {} } } };

interface Changes {
  readonly metadata?: Partial<core.Pod['metadata']>;
  readonly nodeName?: string;
  readonly phase?: string;
}

function pod(volume: core.Volume, { metadata, nodeName = 'x', phase = 'Running' }: Changes = {}): core.Pod {
  const identity = { name: 'p', namespace: 'n', uid: 'u', ...metadata };
  return { metadata: identity, spec: { containers: [], nodeName, volumes: [volume] }, status: { phase } };
}

const ENDING = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };

describe('a claim', () => {
  it.each<[string, core.Pod, boolean]>([
    ['is used by a pod on a node that names it', pod(NAMED), true],
    ['is used by a pod that has ended but is not gone', pod(NAMED, { phase: 'Succeeded' }), true],
    ['is used by a pod that is about to go', pod(NAMED, { metadata: ENDING }), true],
    ['is not used by a pod that is on no node', pod(NAMED, { nodeName: '' }), false],
    ['is not used by a pod of another namespace', pod(NAMED, { metadata: { namespace: 'm' } }), false],
    ['is not used by a pod that names another', pod({ name: 'v', persistentVolumeClaim: { claimName: 'other' } }), false],
    ['is used by the pod that it was made for', pod(EPHEMERAL), true],
    ['is not used by another pod of that name', pod(EPHEMERAL, { metadata: { uid: 'other' } }), false],
    ['is not used by its pod once that is shut down', pod(EPHEMERAL, { metadata: ENDING }), false],
    ['is used by its pod while that ends', pod(EPHEMERAL, { metadata: { ...ENDING, deletionGracePeriodSeconds: 30 } }), true],
    ['is not used by volumes of other kinds', pod({ name: 'data', emptyDir: {} }), false],
  ])('%s', (_name, user, expected) => {
    expect(usesClaim(user, CLAIM)).toBe(expected);
  });
});
