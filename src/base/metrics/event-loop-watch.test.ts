import { expect, test } from 'vitest';
import { silentLogger } from '../logging/logger.ts';
import { realClock } from '../time/clock.ts';
import { EventLoopWatch } from './event-loop-watch.ts';
import { MetricsRegistry } from './metrics.ts';

test('a long turn is counted, and logged with the request that ran', async () => {
  const metrics = new MetricsRegistry();
  const logged: object[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields: object = {}) => void logged.push(fields) };
  using watch = new EventLoopWatch({ metrics, logger, thresholdMs: 150 });
  watch.start();
  watch.enter({ method: 'POST', path: '/api/v1/slow' });
  const end = realClock.monotonic() + 400;
  while (realClock.monotonic() < end);
  await realClock.sleep(20);
  expect(logged).toMatchObject([{ method: 'POST', path: '/api/v1/slow' }]);
  expect(metrics.text()).toMatch(/sampan_event_loop_lag_seconds_count [1-9]/);
});
