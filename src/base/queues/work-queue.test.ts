import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MetricsRegistry, perKeyBackoff, runWorkers, seededRandom, VirtualClock, WorkQueue } from '#base';

const newQueue = (clock = new VirtualClock()) =>
  new WorkQueue<string>({ clock, rateLimiter: perKeyBackoff<string>({ initialMs: 10, maxMs: 1_000 }) });

describe('a work queue', () => {
  test('hands keys out in order, each at most once while it waits', async () => {
    const queue = newQueue();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['a', 'b', 'c']);
    expect([queue.length, queue.processing]).toEqual([0, 3]);
  });

  test('gives a key that was added while it was worked on again, and only after it is done', async () => {
    const queue = newQueue();
    queue.add('a');
    await queue.get();
    queue.add('a');
    queue.add('a');
    expect(queue.length).toBe(0);
    queue.done('a');
    expect(queue.length).toBe(1);
    expect(await queue.get()).toBe('a');
    queue.done('a');
    expect(queue.length).toBe(0);
  });

  test('wakes those who wait in order of asking', async () => {
    const queue = newQueue();
    const [first, second] = [queue.get(), queue.get()];
    queue.add('a');
    queue.add('b');
    expect([await first, await second]).toEqual(['a', 'b']);
  });

  test('adds delayed keys at their time; the earliest of several delays wins', async () => {
    const clock = new VirtualClock();
    const queue = newQueue(clock);
    queue.addAfter('a', 100);
    queue.addAfter('b', 50);
    queue.addAfter('a', 30);
    queue.addAfter('a', 200);
    queue.addAfter('now', 0);
    expect([queue.length, queue.delayed, clock.pendingTimers]).toEqual([1, 2, 1]);
    await clock.advance(30);
    expect([queue.length, queue.delayed]).toEqual([2, 1]);
    await clock.runUntilIdle();
    expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['now', 'a', 'b']);
    expect([clock.monotonic(), queue.delayed]).toEqual([50, 0]);
  });

  test('makes a key that fails wait longer each time, until it is forgotten', async () => {
    const clock = new VirtualClock();
    const queue = newQueue(clock);
    const at: number[] = [];
    for (let i = 0; i < 4; i++) {
      queue.addRateLimited('a');
      await clock.runUntilIdle();
      queue.done((await queue.get()) as string);
      at.push(clock.monotonic());
    }
    expect(at).toEqual([10, 30, 70, 150]);
    expect(queue.retries('a')).toBe(4);
    queue.forget('a');
    expect(queue.retries('a')).toBe(0);
  });

  test('after it is shut down takes nothing, hands out what is ready, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const queue = newQueue(clock);
    queue.add('a');
    queue.addAfter('later', 10);
    queue.shutDown();
    queue.add('b');
    queue.addAfter('c', 10);
    expect([await queue.get(), await queue.get()]).toEqual(['a', undefined]);
    expect([clock.pendingTimers, queue.delayed]).toEqual([0, 0]);
  });

  test('ends every wait when it is shut down, and one wait when its signal aborts', async () => {
    const queue = newQueue();
    const controller = new AbortController();
    const impatient = queue.get(controller.signal);
    const patient = queue.get();
    controller.abort();
    expect(await impatient).toBeUndefined();
    queue.add('a');
    expect(await patient).toBe('a');
    const last = queue.get();
    queue.shutDown();
    expect(await last).toBeUndefined();
    expect(await queue.get(controller.signal)).toBeUndefined();
  });

  test('is drained when what was ready and what came again is done', async () => {
    const queue = newQueue();
    queue.add('a');
    queue.add('b');
    await queue.get();
    queue.add('a');
    let drained = false;
    const draining = queue.drain().then(() => {
      drained = true;
    });
    queue.done('a');
    queue.done((await queue.get()) as string);
    await Promise.resolve();
    expect(drained).toBe(false);
    queue.done((await queue.get()) as string);
    await draining;
    expect(await queue.get()).toBeUndefined();
  });

  test("reports upstream's metrics", async () => {
    const clock = new VirtualClock();
    const metrics = new MetricsRegistry();
    const queue = new WorkQueue<string>({ clock, metrics, name: 'pods' });
    queue.add('a');
    queue.add('a');
    queue.add('b');
    await clock.advance(500);
    queue.done((await queue.get()) as string);
    await queue.get();
    await clock.advance(2_000);
    queue.addRateLimited('a');
    const text = metrics.text();
    for (const line of [
      'workqueue_adds_total{name="pods"} 2',
      'workqueue_depth{name="pods"} 0',
      'workqueue_retries_total{name="pods"} 1',
      'workqueue_queue_duration_seconds_sum{name="pods"} 1',
      'workqueue_work_duration_seconds_count{name="pods"} 1',
      'workqueue_unfinished_work_seconds{name="pods"} 2',
      'workqueue_longest_running_processor_seconds{name="pods"} 2',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    queue.shutDown();
  });
});

describe('workers', () => {
  test('retry what throws, with backoff; forget what succeeds; come again when asked', async () => {
    const clock = new VirtualClock();
    const queue = newQueue(clock);
    const controller = new AbortController();
    const trace: string[] = [];
    const errors: string[] = [];
    const options = { queue, signal: controller.signal, onError: (key: string, error: unknown) => errors.push(`${key}: ${error}`) };
    const working = runWorkers(options, async (key) => {
      trace.push(`${key}@${clock.monotonic()}`);
      if (key === 'flaky' && queue.retries(key) < 2) throw new Error('not yet');
      return key === 'periodic' && clock.monotonic() < 100 ? { afterMs: 100 } : undefined;
    });
    queue.add('flaky');
    queue.add('periodic');
    await clock.runUntilIdle();
    controller.abort();
    await working;
    expect(trace).toEqual(['flaky@0', 'periodic@0', 'flaky@10', 'flaky@30', 'periodic@100']);
    expect(errors).toEqual(['flaky: Error: not yet', 'flaky: Error: not yet']);
    expect(queue.retries('flaky')).toBe(0);
  });

  test('property: no key is ever worked on twice at a time, no add is lost, and nothing is left open', async () => {
    const adds = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b', 'c'), delay: fc.integer({ min: 0, max: 30 }), at: fc.integer({ min: 0, max: 50 }) }),
      {
        maxLength: 25,
      },
    );
    await fc.assert(
      fc.asyncProperty(adds, fc.integer({ min: 1, max: 4 }), fc.integer(), async (requested, concurrency, seed) => {
        const clock = new VirtualClock();
        const random = seededRandom(seed);
        const queue = newQueue(clock);
        const controller = new AbortController();
        const busy = new Set<string>();
        const startedAt = new Map<string, number>();
        const working = runWorkers({ queue, concurrency, signal: controller.signal }, async (key) => {
          expect(busy.has(key)).toBe(false);
          busy.add(key);
          startedAt.set(key, clock.monotonic());
          await clock.sleep(random.int(8));
          busy.delete(key);
          if (random.float() < 0.3) throw new Error('try again');
        });
        for (const { key, delay, at } of requested) clock.setTimer(at, () => queue.addAfter(key, delay));
        await clock.runUntilIdle();
        // Not at + delay: the key may have been waiting for an earlier moment already.
        for (const { key, at } of requested) expect(startedAt.get(key)).toBeGreaterThanOrEqual(at);
        expect([queue.length, queue.processing, queue.delayed, busy.size]).toEqual([0, 0, 0, 0]);
        controller.abort();
        await working;
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

/** Failing work on a virtual clock: every start and failure, with its time. */
async function traceRetries(seed: number): Promise<string> {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const queue = new WorkQueue<string>({ clock, rateLimiter: perKeyBackoff({ initialMs: 5, maxMs: 500, jitter: 0.2 }, random) });
  const controller = new AbortController();
  const trace: string[] = [];
  const working = runWorkers({ queue, concurrency: 3, signal: controller.signal }, async (key) => {
    trace.push(`${clock.monotonic()} ${key} starts`);
    await clock.sleep(random.int(10));
    if (random.float() < 0.5) throw new Error('fails');
    trace.push(`${clock.monotonic()} ${key} succeeds`);
  });
  for (let i = 0; i < 5; i++) queue.addAfter(`key-${i}`, random.int(20));
  await clock.runUntilIdle();
  controller.abort();
  await working;
  return trace.join('\n');
}

test('the virtual clock drives retries deterministically: the same seed gives the same trace, 1,000 times', async () => {
  const expected = await traceRetries(7);
  expect(expected.split('\n').length).toBeGreaterThan(10);
  expect(await traceRetries(8)).not.toBe(expected);
  for (let run = 0; run < 1_000; run++) {
    if ((await traceRetries(7)) !== expected) expect.unreachable(`run ${run} differs`);
  }
});
