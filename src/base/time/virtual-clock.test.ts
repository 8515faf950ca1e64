import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '#base';

describe('the virtual clock', () => {
  test('stands still until told to move', async () => {
    const clock = new VirtualClock({ startMs: 1_000 });
    await clock.settle();
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
    await clock.advanceTo(2_000);
    expect(clock.now()).toBe(2_000);
    expect(() => clock.advance(-1)).toThrow('time cannot move by -1 ms');
  });

  test('fires timers at their time, in order of due time and then of creation', async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    const set = (delay: number, name: string) => clock.setTimer(delay, () => fired.push(`${name}@${clock.monotonic()}`));
    set(20, 'c');
    set(10, 'a');
    set(10, 'b');
    set(-5, 'now');
    set(30, 'beyond');
    set(Infinity, 'never');
    await clock.advance(20);
    expect(fired).toEqual(['now@0', 'a@10', 'b@10', 'c@20']);
    expect(clock.nextTimerIn).toBe(10);
  });

  test('fires timers that other timers set on the way', async () => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    const tick = () => {
      fired.push(clock.monotonic());
      clock.setTimer(3, tick);
    };
    clock.setTimer(3, tick);
    await clock.advance(10);
    expect(fired).toEqual([3, 6, 9]);
  });

  test('lets chains of promises and immediates run to rest between two timers', async () => {
    const clock = new VirtualClock();
    const trace: string[] = [];
    clock.setTimer(1, () => {
      void (async () => {
        for (let i = 0; i < 50; i++) await Promise.resolve();
        await new Promise((resolve) => setImmediate(resolve));
        trace.push(`first chain ends at ${clock.monotonic()}`);
        await clock.sleep(0.5);
        trace.push(`slept until ${clock.monotonic()}`);
      })();
    });
    clock.setTimer(2, () => trace.push('second timer'));
    await clock.advance(2);
    expect(trace).toEqual(['first chain ends at 1', 'slept until 1.5', 'second timer']);
  });

  test('waits for real work that it is told to hold for', async () => {
    const clock = new VirtualClock();
    const trace: string[] = [];
    clock.setTimer(1, () => {
      const io = new Promise<void>((resolve) => setTimeout(resolve, 15));
      void clock.hold(io).then(() => trace.push(`io done at ${clock.monotonic()}`));
    });
    clock.setTimer(2, () => trace.push('second timer'));
    await clock.advance(5);
    expect(trace).toEqual(['io done at 1', 'second timer']);
  });

  test('does not fire what was cancelled, even by a timer of the same moment', async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    clock.setTimer(1, () => second.cancel());
    const second = clock.setTimer(1, () => fired.push('second'));
    await clock.advance(1);
    expect(fired).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('runs until idle, and says so when something repeats for ever', async () => {
    const clock = new VirtualClock();
    void clock.sleep(1_000).then(() => clock.sleep(86_400_000));
    await clock.runUntilIdle();
    expect(clock.monotonic()).toBe(86_401_000);
    const tick = () => clock.setTimer(1, tick);
    tick();
    await expect(clock.runUntilIdle({ maxTimers: 10 })).rejects.toThrow('still not idle after 10 timers');
  });

  test('runs until a condition holds, or says why it never will', async () => {
    const clock = new VirtualClock();
    let ticks = 0;
    const tick = () => {
      ticks++;
      clock.setTimer(10, tick);
    };
    clock.setTimer(10, tick);
    await clock.runUntil(() => ticks === 3);
    expect(clock.monotonic()).toBe(30);
    await expect(clock.runUntil(() => false, { withinMs: 100 })).rejects.toThrow('after 100 ms of virtual time');
    await expect(new VirtualClock().runUntil(() => false)).rejects.toThrow('no timer is left');
  });

  test('refuses to be moved by two at a time', async () => {
    const clock = new VirtualClock();
    const first = clock.advance(1);
    await expect(clock.advance(1)).rejects.toThrow('moving already');
    await first;
  });

  test('leaves no timer and no listener behind when a sleep is aborted', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleep = clock.sleep(10, controller.signal);
    controller.abort(new Error('stop'));
    await expect(sleep).rejects.toThrow('stop');
    expect(clock.pendingTimers).toBe(0);
  });

  test('property: every timer fires once, at its due time, in order, however time is moved', async () => {
    const delays = fc.array(fc.double({ min: 0, max: 1000, noNaN: true }), { maxLength: 20 });
    const steps = fc.array(fc.double({ min: 0, max: 300, noNaN: true }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(delays, steps, async (timers, moves) => {
        const clock = new VirtualClock();
        const fired: { id: number; at: number }[] = [];
        timers.forEach((delay, id) => void clock.setTimer(delay, () => fired.push({ id, at: clock.monotonic() })));
        for (const ms of moves) await clock.advance(ms);
        await clock.runUntilIdle();
        const expected = timers.map((at, id) => ({ id, at })).sort((a, b) => a.at - b.at || a.id - b.id);
        expect(fired).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
