import { setMaxListeners } from 'node:events';
import type { Clock } from '../time/clock.ts';

/** A signal with an owner: disposing releases its parents and its timer. */
export interface OwnedSignal extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

/** Calls `listener` once with the reason, immediately if already aborted. Dispose of the result to unregister. */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): Disposable {
  if (!signal) return { [Symbol.dispose]() {} };
  const call = () => listener(signal.reason);
  if (signal.aborted) call();
  else signal.addEventListener('abort', call, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', call) };
}

/**
 * A signal that aborts with any parent, or by `abort`. AbortSignal.any keeps an entry on a long-lived parent until garbage collection; this one is
 * released when disposed.
 */
export function childSignal(...parents: readonly (AbortSignal | undefined)[]): OwnedSignal {
  const controller = new AbortController();
  // A component's signal has a listener per part; Node warns of a leak at more than ten.
  setMaxListeners(0, controller.signal);
  const registrations: Disposable[] = [];
  const release = () => {
    for (const registration of registrations.splice(0)) registration[Symbol.dispose]();
  };
  const abort = (reason?: unknown) => {
    controller.abort(reason);
    release();
  };
  for (const parent of parents) registrations.push(onAbort(parent, abort));
  if (controller.signal.aborted) release();
  return { signal: controller.signal, abort, [Symbol.dispose]: release };
}

/** Aborts with a TimeoutError after `delayMs`, or earlier with a parent's reason. Dispose to cancel the timer. */
export function timeoutSignal(clock: Clock, delayMs: number, parent?: AbortSignal): OwnedSignal {
  const child = childSignal(parent);
  const timer = clock.setTimer(delayMs, () => child.abort(new DOMException(`timed out after ${delayMs} ms`, 'TimeoutError')));
  const cancelled = onAbort(child.signal, () => timer.cancel());
  return {
    signal: child.signal,
    abort: child.abort,
    [Symbol.dispose]() {
      timer.cancel();
      cancelled[Symbol.dispose]();
      child[Symbol.dispose]();
    },
  };
}

/** Settles like `work`, or rejects with the signal's reason if it aborts first. `work` itself continues. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const registration = onAbort(signal, reject);
    work.then(resolve, reject).finally(() => registration[Symbol.dispose]());
  });
}

/** Resolves when the signal aborts. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, () => resolve()));
}

/** Whether `error` is the signal's reason or the platform's AbortError: a requested stop. */
export function isAbort(error: unknown, signal?: AbortSignal): boolean {
  if (signal?.aborted && error === signal.reason) return true;
  return error instanceof Error && error.name === 'AbortError';
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
