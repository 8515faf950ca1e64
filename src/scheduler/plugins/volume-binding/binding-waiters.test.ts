import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#base';
import { BindingWaiters } from './binding-waiters.ts';

describe('pods whose volumes are being bound', () => {
  it('go on in the moment when their claims are, without a look at the others', async () => {
    const clock = new VirtualClock();
    const waiters = new BindingWaiters(clock, new AbortController().signal);
    const bound = new Map<string, string>();
    const looks: string[] = [];
    const [a, b] = ['a', 'b'].map((name) =>
      waiters.until([name], () => {
        looks.push(name);
        return bound.get(name);
      }),
    );
    looks.length = 0;
    bound.set('b', 'volume b');
    waiters.changed('b');
    expect(await b).toBe('volume b');
    expect(looks).toEqual(['b']);
    bound.set('a', 'volume a');
    waiters.changed('a');
    expect(await a).toBe('volume a');
    expect(clock.pendingTimers).toBe(0);
  });

  it('are looked at once a second: deadlines and deleted pods are told by no claim', async () => {
    const clock = new VirtualClock();
    const waiters = new BindingWaiters(clock, new AbortController().signal);
    let isOver = false;
    const waits = ['a', 'b'].map((name) => waiters.until([name], () => (isOver ? name : undefined)));
    expect(clock.pendingTimers).toBe(1);
    isOver = true;
    await clock.advance(1_000);
    expect(await Promise.all(waits)).toEqual(['a', 'b']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('end with the scheduler', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const wait = new BindingWaiters(clock, stop.signal).until(['a'], () => undefined);
    stop.abort(new Error('stopped'));
    await expect(wait).rejects.toThrow('stopped');
    expect(clock.pendingTimers).toBe(0);
  });
});
