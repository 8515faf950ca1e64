import { describe, expect, test } from 'vitest';
import { Backoff, backoffDelay, repeat, retry, seededRandom, VirtualClock } from '#base';

describe('a backoff', () => {
  test('grows by its factor up to its limit, and starts over', () => {
    const backoff = new Backoff({ initialMs: 10, factor: 3, maxMs: 100 });
    expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([10, 30, 90, 100]);
    expect(backoff.failures).toBe(4);
    backoff.reset();
    expect(backoff.next()).toBe(10);
  });

  test('stays finite after very many failures', () => {
    expect(backoffDelay({ initialMs: 5, maxMs: 1_000_000 }, 100_000)).toBe(1_000_000);
  });

  test('adds jitter within its share, and needs chance for it', () => {
    const random = seededRandom(1);
    for (let i = 0; i < 100; i++) {
      const delay = backoffDelay({ initialMs: 100, jitter: 0.5 }, 0, random);
      expect(delay >= 100 && delay < 150).toBe(true);
    }
    expect(() => backoffDelay({ initialMs: 1, jitter: 1 }, 0)).toThrow('needs a source of chance');
  });
});

describe('retry', () => {
  const backoff = { initialMs: 100 };

  test('tries again after each delay until it succeeds', async () => {
    const clock = new VirtualClock();
    const at: number[] = [];
    const result = retry({ clock, backoff }, (attempt) => {
      at.push(clock.monotonic());
      if (attempt < 3) throw new Error('not yet');
      return 'done';
    });
    await clock.runUntilIdle();
    expect(await result).toBe('done');
    expect(at).toEqual([0, 100, 300, 700]);
  });

  test('throws the last error when the attempts are used up', async () => {
    const clock = new VirtualClock();
    const result = retry({ clock, backoff, attempts: 2 }, (attempt) => Promise.reject(new Error(`attempt ${attempt}`)));
    const verdict = expect(result).rejects.toThrow('attempt 1');
    await clock.runUntilIdle();
    await verdict;
  });

  test('does not retry what is not worth it', async () => {
    const clock = new VirtualClock();
    const result = retry({ clock, backoff, retryOn: () => false }, () => Promise.reject(new Error('for good')));
    await expect(result).rejects.toThrow('for good');
  });

  test('stops waiting when told to', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const result = retry({ clock, backoff, signal: controller.signal }, () => Promise.reject(new Error('no')));
    const verdict = expect(result).rejects.toThrow('stop');
    await clock.settle();
    controller.abort(new Error('stop'));
    await verdict;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('repeat', () => {
  test('runs again after each interval, measured from the end of a run, until told to stop', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const at: number[] = [];
    const running = repeat({ clock, intervalMs: 10, signal: controller.signal, onError: () => {} }, async () => {
      at.push(clock.monotonic());
      await clock.sleep(5);
    });
    await clock.advance(40);
    controller.abort();
    await running;
    expect(at).toEqual([0, 15, 30]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('reports the errors of its work, and goes on after a pause', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const errors: string[] = [];
    const onError = (error: unknown) => void errors.push(`${clock.monotonic()} ${(error as Error).message}`);
    const running = repeat({ clock, intervalMs: 0, signal: controller.signal, onError }, () => {
      throw new Error('broken');
    });
    await clock.advance(2500);
    controller.abort();
    await running;
    expect(errors).toEqual(['0 broken', '1000 broken', '2000 broken']);
    expect(clock.pendingTimers).toBe(0);
  });
});
