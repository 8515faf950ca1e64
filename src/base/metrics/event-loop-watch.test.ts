import { expect, test } from 'vitest';
import { silentLogger } from '../logging/logger.ts';
import { realClock } from '../time/clock.ts';
import { EventLoopWatch } from './event-loop-watch.ts';
import { MetricsRegistry } from './metrics.ts';

function setup() {
  const metrics = new MetricsRegistry();
  const logged: object[] = [];
  const logger = { ...silentLogger, warn: (message: string, fields: object = {}) => void logged.push({ message, ...fields }) };
  const watch = new EventLoopWatch({ metrics, logger, thresholdMs: 150 });
  watch.start();
  return { watch, metrics, logged };
}

const slow = { method: 'POST', path: '/api/v1/slow' };
const quick = { method: 'GET', path: '/api/v1/quick' };

function block(ms: number): void {
  const end = realClock.monotonic() + ms;
  while (realClock.monotonic() < end);
}

test('a long turn is counted, and logged with the request that ran', async () => {
  const { watch, metrics, logged } = setup();
  using _ = watch;
  watch.enter(slow);
  block(400);
  await realClock.sleep(20);
  expect(logged).toMatchObject([{ message: 'a request blocked the event loop', ...slow }]);
  expect(metrics.text()).toMatch(/sampan_event_loop_lag_seconds_count [1-9]/);
});

test('a request that began after the blocking turn is not logged', async () => {
  const { watch, logged } = setup();
  using _ = watch;
  watch.enter(quick);
  watch.enter(slow);
  block(400);
  watch.enter(quick);
  await realClock.sleep(20);
  expect(logged).toMatchObject([slow]);
});

test('a request is not blamed for a later turn', async () => {
  const { watch, logged } = setup();
  using _ = watch;
  watch.enter(quick);
  await realClock.sleep(10);
  block(400);
  await realClock.sleep(20);
  expect(logged).toHaveLength(1);
  expect(logged[0]).not.toHaveProperty('path');
});
