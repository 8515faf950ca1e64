import type { Clock, TimerHandle } from '#base';

/**
 * Timers that need not be exact, rounded up to a common beat so that one timer of the clock serves many: thousands of nodes renew their
 * leases with a few wake-ups a second.
 */
export class SharedTicker {
  readonly #beats = new Map<number, Set<() => void>>();

  constructor(
    private readonly clock: Clock,
    private readonly beatMs = 1000,
  ) {}

  /** Fires at the first beat that is not earlier than `delayMs` from now. */
  after(delayMs: number, fire: () => void): TimerHandle {
    const beat = Math.ceil((this.clock.monotonic() + delayMs) / this.beatMs);
    // The same function may wait more than once.
    const once = () => fire();
    this.#waitersOf(beat).add(once);
    return { cancel: () => void this.#beats.get(beat)?.delete(once) };
  }

  #waitersOf(beat: number): Set<() => void> {
    const known = this.#beats.get(beat);
    if (known !== undefined) return known;
    const waiters = new Set<() => void>();
    this.#beats.set(beat, waiters);
    this.clock.setTimer(beat * this.beatMs - this.clock.monotonic(), () => {
      this.#beats.delete(beat);
      for (const waiter of waiters) waiter();
    });
    return waiters;
  }
}
