import { type Clock, realClock, SlotList, type Slotted, type TimerHandle } from '#base';

/** A request in flight. */
export interface Flight extends Slotted {
  readonly deadlineMs: number;
  /** Responds with a timeout. */
  expire(): void;
}

/** The interval of deadline checks: one timer for all requests is cheaper than one each. */
const SWEEP_MS = 500;

/**
 * Network requests in flight, except long-running ones. Neither a client that never finishes its body
 * nor a hanging webhook occupies a slot beyond its deadline.
 */
export class RequestsInFlight {
  readonly #open = new SlotList<Flight>();
  // Real time: peers are outside of the cluster's (possibly virtual) time.
  readonly #clock: Clock = realClock;
  #timer: TimerHandle | undefined;
  #waiting: (() => void)[] = [];

  now(): number {
    return this.#clock.monotonic();
  }

  begin(flight: Flight): void {
    this.#open.add(flight);
    this.#timer ??= this.#clock.setTimer(SWEEP_MS, () => this.#sweep());
  }

  end(flight: Flight): void {
    if (!this.#open.delete(flight)) return;
    if (this.#open.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when no request is in flight, or after `limitMs`. */
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
    const late = [...this.#open].filter(({ deadlineMs }) => deadlineMs <= now);
    for (const flight of late) {
      this.end(flight);
      flight.expire();
    }
    this.#timer = this.#open.size > 0 ? this.#clock.setTimer(SWEEP_MS, () => this.#sweep()) : undefined;
  }
}
