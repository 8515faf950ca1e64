import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { annotatedNode, evaluateHealth, zoneRate, zoneState } from './reconcile.ts';

const NOW = Date.UTC(2026, 0, 1, 1);
const GRACE = { startupGraceMs: 60_000, graceMs: 50_000 };

function node(conditions: readonly core.NodeCondition[], changes: Partial<core.NodeSpec> = {}): core.Node {
  return { metadata: { name: 'n', creationTimestamp: '2026-01-01T01:00:00Z' }, spec: changes, status: { conditions } };
}

describe('the state of a zone', () => {
  it.each([
    { ready: 3, lost: 0, state: 'Normal' },
    { ready: 0, lost: 1, state: 'FullDisruption' },
    { ready: 1, lost: 2, state: 'Normal' },
    { ready: 2, lost: 3, state: 'PartialDisruption' },
    { ready: 3, lost: 3, state: 'Normal' },
  ])('with $ready ready and $lost lost nodes is $state', ({ ready, lost, state }) => {
    expect(zoneState([...Array(ready).fill('True'), ...Array(lost).fill('Unknown')], 0.55)).toBe(state);
  });

  it.each([
    ['Normal', 10, 0.1],
    ['PartialDisruption', 50, 0],
    ['PartialDisruption', 51, 0.01],
    ['FullDisruption', 10, 0.1],
  ] as const)('%s with %d nodes lets %d be evicted a second', (state, size, rate) => {
    const rates = { nodeEvictionRate: 0.1, secondaryNodeEvictionRate: 0.01, largeClusterSizeThreshold: 50 };
    expect(zoneRate(state, size, rates)).toBe(rate);
  });
});

describe('the health of a node', () => {
  const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T01:00:00Z' };
  const saved = { probeTime: NOW, heartbeat: ready.lastHeartbeatTime, renewTime: undefined };

  it.each([
    { after: 50_000, expected: 'True' },
    { after: 50_001, expected: 'Unknown' },
  ])('is $expected when it was silent for $after ms', ({ after, expected }) => {
    const result = evaluateHealth({ node: node([ready]), lease: undefined, saved, now: NOW + after, ...GRACE });
    expect(result.node.status?.conditions?.[0]?.status).toBe(expected);
  });

  it('stays when its lease is renewed', () => {
    const lease = { metadata: { name: 'n' }, spec: { renewTime: '2026-01-01T01:00:40.000000Z' } };
    const result = evaluateHealth({ node: node([ready]), lease, saved, now: NOW + 60_000, ...GRACE });
    expect(result.node.status?.conditions?.[0]?.status).toBe('True');
    expect(result.health.probeTime).toBe(NOW + 60_000);
  });

  it('is Unknown if the node never reported a status', () => {
    const result = evaluateHealth({ node: node([]), lease: undefined, saved: undefined, now: NOW + 60_001, ...GRACE });
    expect(result.node.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual(
      ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => [type, 'Unknown', 'NodeStatusNeverUpdated']),
    );
  });
});

describe('taints of a node', () => {
  it('follow its conditions, and leave those of others alone', () => {
    const taints = [
      { key: 'mine', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' },
    ];
    const after = annotatedNode(node([{ type: 'Ready', status: 'False' }], { taints, unschedulable: true }), NOW);
    expect(after.spec?.taints?.map(({ key }) => key)).toEqual(['mine', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unschedulable']);
  });
});
