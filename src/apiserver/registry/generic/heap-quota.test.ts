import { expect, test } from 'vitest';
import { type Logger, MetricsRegistry, silentLogger } from '#base';
import { type Heap, HeapQuota } from './heap-quota.ts';

const CREATION = { isCreation: true, isRemoval: false };
const UPDATE = { isCreation: false, isRemoval: false };
const REMOVAL = { isCreation: false, isRemoval: true };

function setup() {
  let listener = () => {};
  let usedBytes = 0;
  const heap: Heap = {
    limitBytes: 1000,
    get usedBytes() {
      return usedBytes;
    },
    onCollected(onCollected) {
      listener = onCollected;
      return { [Symbol.dispose]() {} };
    },
  };
  const state = { objects: 100, drops: 0 };
  const logged: string[] = [];
  const logger: Logger = { ...silentLogger, error: (message) => void logged.push(message), info: (message) => void logged.push(message) };
  const quota = new HeapQuota({
    heap,
    logger,
    metrics: new MetricsRegistry(),
    objects: () => state.objects,
    dropHistory: () => void state.drops++,
  });
  const collect = (bytes: number) => {
    usedBytes = bytes;
    listener();
  };
  const isAllowed = (write: typeof CREATION) => {
    try {
      quota.check(write);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 500, message: 'etcdserver: mvcc: database space exceeded' });
      return false;
    }
  };
  return { quota, state, logged, collect, allowed: () => [CREATION, UPDATE, REMOVAL].map(isAllowed) };
}

test.each([
  [699, [true, true, true], true],
  [700, [false, true, true], false],
  [850, [false, true, true], false],
  [900, [false, false, true], false],
])('with %d of 1000 bytes alive, creations, updates and removals are allowed: %j', (live, expected, isHealthy) => {
  const { quota, collect, allowed } = setup();
  collect(live);
  expect(allowed()).toEqual(expected);
  expect(quota.isHealthy()).toBe(isHealthy);
});

test('the alarm ends when enough objects were deleted, before the next collection, and not at once below the limit', () => {
  const { quota, state, logged, collect } = setup();
  collect(720);
  collect(680);
  expect(quota.isHealthy()).toBe(false);
  state.objects = 90;
  expect(quota.isHealthy()).toBe(true);
  collect(710);
  expect(quota.isHealthy()).toBe(false);
  expect(logged.map((line) => line.split(':')[0])).toEqual([
    'the heap is nearly full',
    'the heap has room again',
    'the heap is nearly full',
  ]);
});

test.each([
  [649, 0],
  [650, 1],
  [900, 1],
])('with %d of 1000 bytes alive, past states are dropped %d times', (live, drops) => {
  const { state, collect } = setup();
  collect(live);
  expect(state.drops).toBe(drops);
});
