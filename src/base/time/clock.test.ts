import { describe, expect, test } from 'vitest';
import { realClock } from '#base';

describe('the real clock', () => {
  test('tells the time', () => {
    expect(realClock.now()).toBeGreaterThan(Date.UTC(2024, 0, 1));
    expect(realClock.monotonic()).toBeGreaterThanOrEqual(0);
  });

  test('fires timers in order, and not those that were cancelled', async () => {
    const fired: string[] = [];
    realClock.setTimer(5, () => fired.push('late'));
    realClock.setTimer(1, () => fired.push('early'));
    realClock.setTimer(2, () => fired.push('cancelled')).cancel();
    await realClock.sleep(20);
    expect(fired).toEqual(['early', 'late']);
  });

  test('does not fire at once when the delay is longer than setTimeout takes', async () => {
    let fired = false;
    const month = realClock.setTimer(31 * 24 * 3_600_000, () => {
      fired = true;
    });
    const never = realClock.setTimer(Infinity, () => {
      fired = true;
    });
    await realClock.sleep(5);
    month.cancel();
    never.cancel();
    expect(fired).toBe(false);
  });

  test('ends a sleep with the reason of the signal', async () => {
    const controller = new AbortController();
    const sleep = realClock.sleep(60_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
    await expect(realClock.sleep(60_000, controller.signal)).rejects.toThrow('enough');
  });
});
