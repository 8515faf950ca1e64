import type { Random } from '../random.ts';
import type { Clock } from './clock.ts';

export interface RepeatOptions {
  clock: Clock;
  /** From the end of one run to the start of the next. */
  intervalMs: number;
  /** The interval grows by a random fraction of itself, up to this. Default 0. Needs `random`. */
  jitter?: number;
  random?: Random;
  signal: AbortSignal;
  /** Called for failed runs, unless the signal has aborted. */
  onError: (error: unknown) => void;
}

/** After an error, so that work without an interval does not spin. */
const MIN_PAUSE_MS = 1000;

/** Runs `work` now and after each interval until the signal aborts, then resolves. Errors of `work` are reported and do not stop it. */
export async function repeat(options: RepeatOptions, work: () => Promise<void> | void): Promise<void> {
  const { clock, intervalMs, jitter = 0, random, signal, onError } = options;
  if (jitter > 0 && !random) throw new TypeError('a jittered interval needs a source of chance');
  while (!signal.aborted) {
    let pauseMs = intervalMs * (1 + jitter * (random?.float() ?? 0));
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      pauseMs = Math.max(pauseMs, MIN_PAUSE_MS);
    }
    await clock.sleep(pauseMs, signal).catch(() => {});
  }
}
