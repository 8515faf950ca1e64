import { type Clock, realClock, type TimerHandle } from '#base';

/** A request that is being answered. */
export interface Flight {
  readonly isMutating: boolean;
  readonly deadlineMs: number;
  /** Tells the client that it took too long. */
  expire(): void;
}

/** Deadlines are looked at this often: one timer for all requests is cheaper than one for each. */
const SWEEP_MS = 500;

/**
 * The requests that are being answered, but for those that last by their nature, such as watches. None of them lasts for ever: neither a client
 * that never finishes its body nor a webhook holds a place longer than its deadline.
 */
export class RequestsInFlight {
  readonly #open = new Set<Flight>();
  // Peers are elsewhere, where time goes on whatever the cluster's own clock does.
  readonly #clock: Clock = realClock;
  #timer: TimerHandle | undefined;
  #mutating = 0;
  #waiting: (() => void)[] = [];

  now(): number {
    return this.#clock.monotonic();
  }

  begin(flight: Flight): void {
    this.#open.add(flight);
    if (flight.isMutating) this.#mutating++;
    this.#timer ??= this.#clock.setTimer(SWEEP_MS, () => this.#sweep());
  }

  end(flight: Flight): void {
    if (!this.#open.delete(flight)) return;
    if (flight.isMutating) this.#mutating--;
    if (this.#open.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get mutating(): number {
    return this.#mutating;
  }

  get readOnly(): number {
    return this.#open.size - this.#mutating;
  }

  /** Resolves when nothing is in flight any more, or after `limitMs`. */
  async drained(limitMs: number): Promise<void> {
    if (this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        const limit = this.#clock.setTimer(limitMs, resolve);
        this.#waiting.push(() => {
          limit.cancel();
          resolve();
        });
      });
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #sweep(): void {
    const now = this.now();
    for (const flight of this.#open) {
      if (flight.deadlineMs > now) continue;
      this.end(flight);
      flight.expire();
    }
    this.#timer = this.#open.size > 0 ? this.#clock.setTimer(SWEEP_MS, () => this.#sweep()) : undefined;
  }
}
