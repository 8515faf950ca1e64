import { describe, expect, test } from 'vitest';
import { AsyncMutex, AsyncSemaphore, VirtualClock } from '#base';

describe('a mutex', () => {
  test('lets one in at a time, in order of asking', async () => {
    const clock = new VirtualClock();
    const mutex = new AsyncMutex();
    const trace: string[] = [];
    const work = (name: string) =>
      mutex.run(async () => {
        trace.push(`${name} in`);
        await clock.sleep(10);
        trace.push(`${name} out`);
      });
    const all = Promise.all([work('a'), work('b'), work('c')]);
    await clock.runUntilIdle();
    await all;
    expect(trace).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  test('lets the next in when work throws', async () => {
    const mutex = new AsyncMutex();
    await expect(mutex.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(mutex.run(() => 'fine')).resolves.toBe('fine');
  });

  test('forgets those who gave up waiting', async () => {
    const mutex = new AsyncMutex();
    const hold = await mutex.acquire();
    const controller = new AbortController();
    const impatient = mutex.acquire(controller.signal);
    const patient = mutex.acquire();
    controller.abort(new Error('too long'));
    await expect(impatient).rejects.toThrow('too long');
    expect(mutex.waiting).toBe(1);
    hold[Symbol.dispose]();
    await expect(patient).resolves.toBeDefined();
  });

  test('is released once, however often its hold is disposed of', async () => {
    const mutex = new AsyncMutex();
    const hold = await mutex.acquire();
    hold[Symbol.dispose]();
    hold[Symbol.dispose]();
    await mutex.acquire();
    const third = mutex.acquire();
    expect(mutex.waiting).toBe(1);
    expect(await Promise.race([third, Promise.resolve('waits')])).toBe('waits');
  });
});

test('a semaphore admits as many holders as it has permits', async () => {
  const clock = new VirtualClock();
  const semaphore = new AsyncSemaphore(3);
  let [inside, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++inside);
    await clock.sleep(1);
    inside--;
  };
  const all = Promise.all(Array.from({ length: 10 }, () => semaphore.run(work)));
  await clock.runUntilIdle();
  await all;
  expect([most, inside]).toEqual([3, 0]);
});
