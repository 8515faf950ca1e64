import { describe, expect, it } from 'vitest';
import { core } from '#api';
import { openNodeBench } from './node-bench.ts';

const REPORT_INTERVAL_MS = 300_000;

describe('the status of a node', () => {
  it('is reported again by a node with addresses of both families', async () => {
    await using bench = await openNodeBench({ nodeIps: ['192.0.2.1', '2001:db8::1'] });
    const heartbeat = async () => {
      const { status } = await bench.client.of(core.Node).get({ name: 'n1' });
      expect(status?.addresses).toEqual([
        { type: 'InternalIP', address: '192.0.2.1' },
        { type: 'InternalIP', address: '2001:db8::1' },
        { type: 'Hostname', address: 'n1' },
      ]);
      return Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime ?? '');
    };
    const first = await heartbeat();
    await bench.clock.advance(2 * REPORT_INTERVAL_MS);
    expect(await heartbeat()).toBeGreaterThanOrEqual(first + REPORT_INTERVAL_MS);
  });

  it('is told by events when the node is cordoned and uncordoned', async () => {
    await using bench = await openNodeBench();
    const nodes = bench.client.of(core.Node);
    for (const unschedulable of [true, false]) {
      await nodes.patch({ name: 'n1' }, { spec: { unschedulable } });
      await bench.clock.settle();
    }
    expect((await bench.events('n1')).filter((event) => event.includes('Schedulable'))).toEqual([
      'NodeNotSchedulable: Node n1 status is now: NodeNotSchedulable',
      'NodeSchedulable: Node n1 status is now: NodeSchedulable',
    ]);
  });
});
