import { maxOf } from '../long-lists.ts';
import type { Random } from '../random.ts';
import { type BackoffConfig, backoffDelay } from './backoff.ts';
import type { Clock } from './clock.ts';

/** Determines how long a key must wait before it is processed again. */
export interface RateLimiter<K> {
  /** The delay in milliseconds; counts as a failure of the key. */
  when(key: K): number;
  /** Resets the key's failures: it succeeded, or is abandoned. */
  forget(key: K): void;
  /** The number of `when` calls since the key was last forgotten. */
  retries(key: K): number;
}

/** Per-key exponential backoff. */
export function perKeyBackoff<K>(config: BackoffConfig, random?: Random): RateLimiter<K> {
  const failures = new Map<K, number>();
  return {
    when(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      return backoffDelay(config, count, random);
    },
    forget: (key) => void failures.delete(key),
    retries: (key) => failures.get(key) ?? 0,
  };
}

export interface TokenBucketConfig {
  perSecond: number;
  /** The burst size. */
  burst: number;
}

/** A token bucket. Tokens may be reserved: each further one waits longer. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #config: TokenBucketConfig;
  #tokens: number;
  #filledAt: number;

  constructor(clock: Clock, config: TokenBucketConfig) {
    if (!(config.perSecond > 0 && config.burst >= 1)) throw new RangeError('a token bucket needs perSecond > 0 and burst >= 1');
    this.#clock = clock;
    this.#config = config;
    this.#tokens = config.burst;
    this.#filledAt = clock.monotonic();
  }

  /** Reserves a token; returns the milliseconds until it is available. */
  reserve(): number {
    this.#fill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / this.#config.perSecond;
  }

  /** Takes a token if one is available. */
  tryTake(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Resolves when a token is taken. An abort returns the token. */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const delayMs = this.reserve();
    if (delayMs === 0) return;
    try {
      await this.#clock.sleep(delayMs, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    const refill = ((now - this.#filledAt) * this.#config.perSecond) / 1000;
    this.#tokens = Math.min(this.#config.burst, this.#tokens + refill);
    this.#filledAt = now;
  }
}

/** All keys share one bucket. */
export function sharedBucket<K>(clock: Clock, config: TokenBucketConfig): RateLimiter<K> {
  const bucket = new TokenBucket(clock, config);
  return { when: () => bucket.reserve(), forget() {}, retries: () => 0 };
}

/** The maximum delay of several limiters. */
export function slowestOf<K>(...limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    when: (key) => maxOf(limiters.map((limiter) => limiter.when(key))),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key);
    },
    retries: (key) => maxOf(limiters.map((limiter) => limiter.retries(key))),
  };
}

/** Upstream's controller default: 5 ms to 1000 s per key, 10 per second with bursts of 100 overall. */
export function controllerRateLimiter<K>(clock: Clock): RateLimiter<K> {
  return slowestOf(perKeyBackoff<K>({ initialMs: 5, maxMs: 1_000_000 }), sharedBucket<K>(clock, { perSecond: 10, burst: 100 }));
}
