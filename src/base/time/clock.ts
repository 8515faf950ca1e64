/** Time, injected: everything that waits takes a Clock, so that tests control time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic milliseconds, for measuring. */
  monotonic(): number;
  /** Calls `fire` once, after `delayMs` (0 for less, never for Infinity). */
  setTimer(delayMs: number, fire: () => void): TimerHandle;
  /** Resolves after `delayMs`; rejects with the signal's reason if it aborts first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface TimerHandle {
  /** No effect on a fired timer. */
  cancel(): void;
}

/** The maximum delay of setTimeout; longer ones fire immediately. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: setRealTimer,
  sleep: (delayMs, signal) => sleepOn(realClock, delayMs, signal),
};

function setRealTimer(delayMs: number, fire: () => void): TimerHandle {
  if (delayMs > LONGEST_TIMEOUT_MS) return setLongTimer(delayMs, fire);
  const timer = setTimeout(fire, delayMs);
  return { cancel: () => clearTimeout(timer) };
}

function setLongTimer(delayMs: number, fire: () => void): TimerHandle {
  const due = performance.now() + delayMs;
  const wake = () => {
    const left = due - performance.now();
    if (left <= 0) fire();
    else timer = setTimeout(wake, Math.min(left, LONGEST_TIMEOUT_MS));
  };
  let timer = setTimeout(wake, LONGEST_TIMEOUT_MS);
  return { cancel: () => clearTimeout(timer) };
}

/** Implements `Clock.sleep` by `Clock.setTimer`. */
export function sleepOn(clock: Pick<Clock, 'setTimer'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
