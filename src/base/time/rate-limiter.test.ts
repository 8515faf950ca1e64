import { describe, expect, test } from 'vitest';
import { controllerRateLimiter, perKeyBackoff, sharedBucket, slowestOf, TokenBucket, VirtualClock } from '#base';

describe('rate limiters', () => {
  test('a backoff counts the failures of each key on its own', () => {
    const limiter = perKeyBackoff<string>({ initialMs: 1, maxMs: 6 });
    expect([1, 2, 3, 4].map(() => limiter.when('a'))).toEqual([1, 2, 4, 6]);
    expect(limiter.when('b')).toBe(1);
    expect([limiter.retries('a'), limiter.retries('b'), limiter.retries('c')]).toEqual([4, 1, 0]);
    limiter.forget('a');
    expect([limiter.retries('a'), limiter.when('a')]).toEqual([0, 1]);
  });

  test('a shared bucket makes each further key wait longer once its burst is used up', async () => {
    const clock = new VirtualClock();
    const limiter = sharedBucket<string>(clock, { perSecond: 10, burst: 2 });
    expect(['a', 'b', 'c', 'd'].map((key) => limiter.when(key))).toEqual([0, 0, 100, 200]);
    await clock.advance(250);
    expect(limiter.when('e')).toBeCloseTo(50);
  });

  test('the slowest of several decides', () => {
    const limiter = slowestOf(perKeyBackoff<string>({ initialMs: 5 }), perKeyBackoff<string>({ initialMs: 3, factor: 4 }));
    expect([limiter.when('a'), limiter.when('a'), limiter.retries('a')]).toEqual([5, 12, 2]);
    limiter.forget('a');
    expect(limiter.retries('a')).toBe(0);
  });

  test("a controller's limiter goes from 5 ms to 1000 s for a key, and 10 a second for all after 100", () => {
    const clock = new VirtualClock();
    const limits = controllerRateLimiter<string>(clock);
    expect([limits.when('a'), limits.when('a'), limits.when('a')]).toEqual([5, 10, 20]);
    for (let i = 0; i < 40; i++) limits.when('a');
    expect(limits.when('a')).toBe(1_000_000);
    const many = controllerRateLimiter<number>(clock);
    const delays = Array.from({ length: 102 }, (_, key) => many.when(key));
    expect([delays[99], delays[100], delays[101]]).toEqual([5, 100, 200]);
  });
});

describe('a token bucket', () => {
  test('lets as many through at once as its burst, then at its rate', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket(clock, { perSecond: 100, burst: 2 });
    expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
    const at: number[] = [];
    for (let i = 0; i < 3; i++) void bucket.take().then(() => at.push(clock.monotonic()));
    await clock.runUntilIdle();
    expect(at).toEqual([10, 20, 30]);
  });

  test('takes a token back from those who stopped waiting', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket(clock, { perSecond: 1, burst: 1 });
    const controller = new AbortController();
    await bucket.take();
    const impatient = bucket.take(controller.signal);
    controller.abort(new Error('no time'));
    await expect(impatient).rejects.toThrow('no time');
    expect(bucket.reserve()).toBe(1_000);
  });
});
