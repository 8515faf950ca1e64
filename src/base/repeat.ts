import { isAbort } from './abort.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export interface RepeatOptions {
  clock: Clock;
  /** From the end of one run to the start of the next. */
  intervalMs: number;
  /** The interval grows by a random share of itself, up to this share. Default 0. Needs `random`. */
  jitter?: number;
  random?: Random;
  signal: AbortSignal;
}

/** Runs `work` now and again after each interval until the signal aborts, then resolves. An error of `work` ends it. */
export async function repeat(options: RepeatOptions, work: () => Promise<void> | void): Promise<void> {
  const { clock, intervalMs, jitter = 0, random, signal } = options;
  if (jitter > 0 && !random) throw new TypeError('a jittered interval needs a source of chance');
  try {
    while (!signal.aborted) {
      await work();
      await clock.sleep(intervalMs * (1 + jitter * (random?.float() ?? 0)), signal);
    }
  } catch (error) {
    if (!isAbort(error, signal) || !signal.aborted) throw error;
  }
}
