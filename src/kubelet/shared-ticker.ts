import type { Clock, TimerHandle } from '#base';

/**
 * Inexact timers, rounded up to a common tick so that one clock timer serves many: thousands of nodes renew their
 * leases with a few wake-ups per second.
 */
export class SharedTicker {
  readonly #beats = new Map<number, Beat>();

  constructor(
    private readonly clock: Clock,
    private readonly beatMs = 1000,
  ) {}

  /** Fires at the first tick that is not earlier than `delayMs` from now. */
  after(delayMs: number, fire: () => void): TimerHandle {
    const number = Math.ceil((this.clock.monotonic() + delayMs) / this.beatMs);
    const beat = this.#beats.get(number) ?? this.#newBeat(number);
    // The same function may be scheduled more than once.
    const once = () => fire();
    beat.waiters.add(once);
    return { cancel: () => this.#cancel(number, beat, once) };
  }

  #newBeat(number: number): Beat {
    const waiters = new Set<() => void>();
    const timer = this.clock.setTimer(number * this.beatMs - this.clock.monotonic(), () => {
      this.#beats.delete(number);
      for (const waiter of waiters) waiter();
    });
    const beat = { waiters, timer };
    this.#beats.set(number, beat);
    return beat;
  }

  /** Cancels the clock timer of a tick without waiters, which would keep the process alive. */
  #cancel(number: number, { waiters, timer }: Beat, waiter: () => void): void {
    if (!waiters.delete(waiter) || waiters.size > 0) return;
    timer.cancel();
    this.#beats.delete(number);
  }
}

interface Beat {
  readonly waiters: Set<() => void>;
  readonly timer: TimerHandle;
}
