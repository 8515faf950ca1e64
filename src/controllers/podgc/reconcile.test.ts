import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { podsToCollect } from './reconcile.ts';

interface PodDraft {
  readonly node?: string;
  readonly phase?: string;
  readonly reason?: string;
  readonly created?: number;
  readonly isDeleted?: boolean;
}

function pod(name: string, { node = '', phase = 'Running', reason, created = 0, isDeleted = false }: PodDraft = {}): core.Pod {
  const creationTimestamp = `2026-01-01T00:00:0${created}Z`;
  return {
    metadata: { name, namespace: 'default', creationTimestamp, ...(isDeleted && { deletionTimestamp: '2026-01-01T00:01:00Z' }) },
    spec: { containers: [], ...(node && { nodeName: node }) },
    status: { phase, ...(reason && { reason }) },
  };
}

const NODES: Readonly<Record<string, core.Node>> = {
  healthy: { metadata: { name: 'healthy' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  down: {
    metadata: { name: 'down' },
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
  },
  returned: {
    metadata: { name: 'returned' },
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  },
  silent: { metadata: { name: 'silent' }, status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } },
};

function collected(pods: readonly core.Pod[], terminatedThreshold = 0) {
  const actual = podsToCollect({ pods, node: (name) => NODES[name], lostNodes: new Set(['lost']), terminatedThreshold });
  return actual.map(({ pod: { metadata }, message }) => (message === undefined ? metadata.name : `${metadata.name}: ${message}`));
}

describe('the collector of pods', () => {
  it.each<[string, PodDraft, string[]]>([
    ['leaves pods that run alone', { node: 'healthy' }, []],
    ['leaves pods that wait for a node alone', { phase: 'Pending' }, []],
    ['takes pods of a node that no longer exists, and says why', { node: 'lost' }, ['p: PodGC: node no longer exists']],
    ['leaves pods alone whose node is missing for too short a time', { node: 'missing' }, []],
    ['takes pods that were deleted before they had a node', { phase: 'Pending', isDeleted: true }, ['p']],
    ['leaves deleted pods to their node', { node: 'healthy', isDeleted: true }, []],
    ['leaves deleted pods of a silent node alone: it may still run them', { node: 'silent', isDeleted: true }, []],
    ['takes deleted pods of a node that is out of service', { node: 'down', isDeleted: true }, ['p']],
    ['leaves pods alone that nobody deleted on a node that is out of service', { node: 'down' }, []],
    ['leaves deleted pods to a node that is back in service', { node: 'returned', isDeleted: true }, []],
  ])('%s', (_name, draft, expected) => {
    expect(collected([pod('p', draft)])).toEqual(expected);
  });

  const finished = [
    pod('young', { phase: 'Succeeded', created: 5 }),
    pod('b', { phase: 'Failed', created: 1 }),
    pod('a', { phase: 'Succeeded', created: 1 }),
    pod('evicted', { phase: 'Failed', reason: 'Evicted', created: 9 }),
    pod('running', { created: 0 }),
  ];

  it.each([
    { threshold: 0, expected: [] },
    { threshold: -1, expected: [] },
    { threshold: 4, expected: [] },
    { threshold: 3, expected: ['evicted'] },
    { threshold: 1, expected: ['evicted', 'a', 'b'] },
  ])('keeps $threshold finished pods, and takes evicted ones and then the oldest', ({ threshold, expected }) => {
    expect(collected(finished, threshold)).toEqual(expected);
  });
});
