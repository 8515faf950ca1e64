import type { Clock, TimerHandle } from '#base';

/**
 * Timers that need not be exact, rounded up to a common beat so that one timer of the clock serves many: thousands of nodes renew their
 * leases with a few wake-ups a second.
 */
export class SharedTicker {
  readonly #beats = new Map<number, Beat>();

  constructor(
    private readonly clock: Clock,
    private readonly beatMs = 1000,
  ) {}

  /** Fires at the first beat that is not earlier than `delayMs` from now. */
  after(delayMs: number, fire: () => void): TimerHandle {
    const number = Math.ceil((this.clock.monotonic() + delayMs) / this.beatMs);
    const beat = this.#beats.get(number) ?? this.#newBeat(number);
    // The same function may wait more than once.
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

  /** A beat that nobody waits for any more is not waited for: its timer would keep the process alive. */
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
