import type { Clock, TimerHandle } from '#base';

/** One timer for many deadlines: runs `wake` at the earliest. */
export class WakeUp {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: TimerHandle | undefined;
  #at = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** `time` is in milliseconds since the epoch. */
  notAfter(time: number): void {
    if (time >= this.#at) return;
    this.#timer?.cancel();
    this.#at = time;
    this.#timer = this.#clock.setTimer(Math.max(0, time - this.#clock.now()), () => {
      this.#timer = undefined;
      this.#at = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
  }
}
