import { expect, test } from 'vitest';
import { VirtualClock } from '#base';
import { SharedTicker } from './shared-ticker.ts';

test('timers of the same tick fire together, by one clock timer', async () => {
  const clock = new VirtualClock();
  const ticker = new SharedTicker(clock, 1000);
  const woken: string[] = [];
  ticker.after(900, () => woken.push('a'));
  ticker.after(200, () => woken.push('b'));
  await clock.advance(999);
  expect(woken).toEqual([]);
  await clock.advance(1);
  expect(woken).toEqual(['a', 'b']);
  expect(clock.nextTimerIn).toBeUndefined();
});

test('a ticker without waiters has no timer, and can be cancelled twice', async () => {
  const clock = new VirtualClock();
  const ticker = new SharedTicker(clock, 1000);
  const [a, b] = [ticker.after(500, () => expect.unreachable()), ticker.after(600, () => expect.unreachable())];
  a.cancel();
  expect(clock.nextTimerIn).toBeDefined();
  b.cancel();
  expect(clock.nextTimerIn).toBeUndefined();
  let isWoken = false;
  ticker.after(500, () => {
    isWoken = true;
  });
  b.cancel();
  await clock.advance(1000);
  expect(isWoken).toBe(true);
});
