import { expect, it } from 'vitest';
import { VirtualClock } from '#base';
import { RestartBackoff } from './restart-backoff.ts';

it('the restart backoff doubles from ten seconds to five minutes, counted from the last exit', async () => {
  const clock = new VirtualClock();
  const backoff = new RestartBackoff(clock);
  expect(backoff.blockedUntil('a', clock.now())).toBeUndefined();
  const delays: number[] = [];
  for (let i = 0; i < 7; i++) {
    backoff.next('a', clock.now());
    delays.push((backoff.blockedUntil('a', clock.now()) ?? 0) - clock.now());
    await clock.advance(delays[i] as number);
  }
  expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  expect(backoff.blockedUntil('b', clock.now())).toBeUndefined();
});

it('the restart backoff is reset after ten minutes', async () => {
  const clock = new VirtualClock();
  const backoff = new RestartBackoff(clock);
  for (let i = 0; i < 4; i++) backoff.next('a', clock.now());
  await clock.advance(600_001);
  expect(backoff.blockedUntil('a', clock.now())).toBeUndefined();
  backoff.next('a', clock.now());
  expect(backoff.delayMs('a')).toBe(10_000);
});
