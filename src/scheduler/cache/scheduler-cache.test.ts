import { expect, test } from 'vitest';
import type { core } from '#api';
import { node } from '../placement.test-data.ts';
import { SchedulerCache } from './scheduler-cache.ts';

const names = (cache: SchedulerCache) => cache.nodes.map(({ name }) => name);

/** Decoding never gives such nodes; a broken store might. */
const MALFORMED: readonly [string, Partial<core.Node>][] = [
  ['a taint that is null', { spec: { taints: [null] } as never }],
  ['an image that is null', { status: { images: [null] } as never }],
  ['an amount that is no quantity', { status: { allocatable: { cpu: 'many' } } as never }],
];

test.each(MALFORMED)('a node with %s is not schedulable until it is repaired', (_, fields) => {
  const cache = new SchedulerCache({ labelsOf: () => undefined });
  cache.setNode(node('good'));
  expect(() => cache.setNode({ ...node('bad'), ...fields })).toThrow();
  expect(names(cache)).toEqual(['good']);
  cache.setNode(node('bad'));
  expect(names(cache).toSorted()).toEqual(['bad', 'good']);
  expect(() => cache.setNode({ ...node('bad'), ...fields })).toThrow();
  expect(names(cache)).toEqual(['good']);
  cache.removeNode('bad');
  expect(names(cache)).toEqual(['good']);
});
