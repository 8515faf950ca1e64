import type { Random } from '../random.ts';

export interface BackoffConfig {
  initialMs: number;
  /** The factor between delays. Default 2. */
  factor?: number;
  /** The maximum delay, without jitter. Default: no limit. */
  maxMs?: number;
  /** Each delay grows by a random fraction of itself, up to this. Default 0. Needs `random`. */
  jitter?: number;
}

/** The delay after `failures` failures (0: the first retry). */
export function backoffDelay(config: BackoffConfig, failures: number, random?: Random): number {
  const { initialMs, factor = 2, maxMs = Infinity, jitter = 0 } = config;
  const delay = Math.min(initialMs * factor ** failures, maxMs);
  if (jitter === 0) return delay;
  if (!random) throw new TypeError('a backoff with jitter needs a source of chance');
  return delay * (1 + random.float() * jitter);
}

/** A resettable sequence of growing delays. */
export class Backoff {
  readonly #config: BackoffConfig;
  readonly #random: Random | undefined;
  #failures = 0;

  constructor(config: BackoffConfig, random?: Random) {
    this.#config = config;
    this.#random = random;
  }

  /** The number of delays since the start or the last reset. */
  get failures(): number {
    return this.#failures;
  }

  next(): number {
    return backoffDelay(this.#config, this.#failures++, this.#random);
  }

  reset(): void {
    this.#failures = 0;
  }
}
