import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { childSignal, isAbort, isTimeout, onAbort, raceAbort, timeoutSignal, VirtualClock, waitForAbort } from '#base';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('a child signal', () => {
  test('aborts with any of its parents, and lets go of the others', () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const child = childSignal(a.signal, undefined, b.signal);
    b.abort(new Error('b'));
    expect(child.signal.reason).toEqual(new Error('b'));
    expect(listeners(a.signal)).toBe(0);
  });

  test('is aborted from the start when a parent is', () => {
    const alive = new AbortController();
    const child = childSignal(AbortSignal.abort('gone'), alive.signal);
    expect(child.signal.reason).toBe('gone');
    expect(listeners(alive.signal)).toBe(0);
  });

  test('leaves nothing on its parents once disposed of', () => {
    const parent = new AbortController();
    const child = childSignal(parent.signal);
    child[Symbol.dispose]();
    expect(listeners(parent.signal)).toBe(0);
    parent.abort();
    expect(child.signal.aborted).toBe(false);
  });
});

describe('a timeout signal', () => {
  test('aborts after its time with a TimeoutError', async () => {
    const clock = new VirtualClock();
    const { signal } = timeoutSignal(clock, 100);
    await clock.advance(99);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(isTimeout(signal.reason)).toBe(true);
  });

  test('leaves no timer when its parent aborts, or when it is disposed of', () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    timeoutSignal(clock, 100)[Symbol.dispose]();
    timeoutSignal(clock, 100, parent.signal);
    parent.abort('early');
    expect(clock.pendingTimers).toBe(0);
    timeoutSignal(clock, 100, parent.signal);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('racing work against a signal', () => {
  test('gives what the work gives, and leaves no listener', async () => {
    const { signal } = new AbortController();
    await expect(raceAbort(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(raceAbort(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    await Promise.resolve();
    expect(listeners(signal)).toBe(0);
  });

  test('rejects with the reason of the signal', async () => {
    const controller = new AbortController();
    const race = raceAbort(new Promise(() => {}), controller.signal);
    controller.abort(new Error('stop'));
    await expect(race).rejects.toThrow('stop');
  });
});

test('onAbort calls at once when it is late, and never after it was disposed of', async () => {
  const calls: unknown[] = [];
  onAbort(AbortSignal.abort('late'), (reason) => calls.push(reason));
  const controller = new AbortController();
  onAbort(controller.signal, (reason) => calls.push(reason))[Symbol.dispose]();
  const aborted = waitForAbort(controller.signal);
  controller.abort('now');
  await aborted;
  expect(calls).toEqual(['late']);
});

test('isAbort knows a stop that was asked for from a failure', () => {
  const reason = new Error('shutting down');
  const signal = AbortSignal.abort(reason);
  expect(isAbort(reason, signal)).toBe(true);
  expect(isAbort(new Error('other'), signal)).toBe(false);
  expect(isAbort(new DOMException('x', 'AbortError'))).toBe(true);
  expect(isAbort('AbortError')).toBe(false);
});
