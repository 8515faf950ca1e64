import type { Random } from '../random.ts';
import { type BackoffConfig, backoffDelay } from './backoff.ts';
import type { Clock } from './clock.ts';

export interface RetryOptions {
  clock: Clock;
  backoff: BackoffConfig;
  /** Needed when the backoff has jitter. */
  random?: Random;
  /** Including the first attempt. Default: until it succeeds or the signal aborts. */
  attempts?: number;
  /** Whether to retry after this error. Default: always. */
  retryOn?: (error: unknown) => boolean;
  signal?: AbortSignal;
}

/** Runs `work` until it succeeds; throws the last error when the attempts are exhausted or the error is not retryable. */
export async function retry<T>(options: RetryOptions, work: (attempt: number) => Promise<T> | T): Promise<T> {
  const { clock, backoff, random, attempts = Infinity, retryOn = () => true, signal } = options;
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (signal?.aborted || attempt + 1 >= attempts || !retryOn(error)) throw error;
      await clock.sleep(backoffDelay(backoff, attempt, random), signal);
    }
  }
}
