import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { podsToDelete } from './rank-pods.ts';

const NOW = Date.UTC(2026, 0, 2);

function pod(
  name: string,
  changes: Partial<{ node: string; phase: string; ready: string; cost: string; restarts: number; created: string }> = {},
): core.Pod {
  const { node = 'n1', phase = 'Running', ready = '2026-01-01T00:00:00Z', cost, restarts = 0, created = '2026-01-01T00:00:00Z' } = changes;
  const annotations = cost === undefined ? {} : { 'controller.kubernetes.io/pod-deletion-cost': cost };
  const containerStatuses = [{ name: 'c', ready: true, restartCount: restarts, image: '', imageID: '' }];
  const conditions = ready === '' ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ready }];
  return {
    metadata: { name, uid: name, annotations, creationTimestamp: created },
    spec: { nodeName: node, containers: [] },
    status: { phase, conditions, containerStatuses },
  };
}

describe('the pod that goes first', () => {
  it.each([
    ['has no node', pod('x', { node: '' }), pod('y')],
    ['has not begun to run', pod('x', { phase: 'Pending' }), pod('y')],
    ['is not ready', pod('x', { ready: '' }), pod('y')],
    ['says that it costs less', pod('x', { cost: '-5' }), pod('y')],
    ['became ready later, by an order of magnitude', pod('x', { ready: '2026-01-01T23:00:00Z' }), pod('y')],
    ['restarted more often', pod('x', { restarts: 3 }), pod('y')],
    ['is younger, by an order of magnitude', pod('x', { created: '2026-01-01T23:50:00Z' }), pod('y')],
  ])('%s', (_, first, second) => {
    for (const pods of [
      [first, second],
      [second, first],
    ]) {
      expect(podsToDelete(pods, pods, { count: 1, now: NOW })).toEqual([first]);
    }
  });

  it('shares its node with others of its kind', () => {
    const pods = [pod('a', { node: 'n1' }), pod('b', { node: 'n2' }), pod('c', { node: 'n2' })];
    expect(podsToDelete(pods, pods, { count: 1, now: NOW })[0]?.spec?.nodeName).toBe('n2');
  });
});
