import { expect, it } from 'vitest';
import type { core } from '#api';
import { reconcileNode } from './reconcile.ts';

const node = (spec: core.NodeSpec = {}): core.Node => ({ metadata: { name: 'n' }, spec });
const BOTH = ['10.244.3.0/24', 'fd00:10:0:3::/64'];

it.each([
  ['a node without CIDRs gets one of each range', node(), false, BOTH, { type: 'assign', podCidrs: BOTH }],
  ['a node gets none when one of the ranges is exhausted', node(), false, [BOTH[0], undefined], { type: 'wait' }],
  ['a node that waits is not tried again', node(), true, BOTH, { type: 'none' }],
  ['a node keeps its CIDRs', node({ podCIDRs: ['10.0.0.0/24'] }), false, BOTH, { type: 'none' }],
  ['a node keeps the CIDR of its single-stack field', node({ podCIDR: '10.0.0.0/24' }), false, BOTH, { type: 'none' }],
  ['a deleted node gets none', undefined, false, BOTH, { type: 'none' }],
])('%s', (_, observed, isWaiting, free, action) => {
  expect(reconcileNode(observed, { isWaiting, nextFree: () => free })).toEqual(action);
});
