import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#base';
import { BindingWaiters } from './binding-waiters.ts';

describe('pods whose volumes are being bound', () => {
  it('go on when theirs are, and leave no timer when all are', async () => {
    const clock = new VirtualClock();
    const waiters = new BindingWaiters(clock, new AbortController().signal);
    const bound = new Map<string, string>();
    const waits = ['a', 'b'].map((name) => waiters.until(() => bound.get(name)));
    expect(clock.pendingTimers).toBe(1);
    bound.set('b', 'volume b');
    await clock.advance(10);
    expect(await waits[1]).toBe('volume b');
    await clock.advance(5_000);
    bound.set('a', 'volume a');
    await clock.advance(300);
    expect(await waits[0]).toBe('volume a');
    expect(clock.pendingTimers).toBe(0);
  });

  it('end with the scheduler', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const wait = new BindingWaiters(clock, stop.signal).until(() => undefined);
    stop.abort(new Error('stopped'));
    await expect(wait).rejects.toThrow('stopped');
    expect(clock.pendingTimers).toBe(0);
  });
});
