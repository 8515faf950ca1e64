import type { Clock, TimerHandle } from '#base';

const WINDOW_MS = 250;
const MANY = 16;

/** Detects bursts: one lasts as long as many occurrences fall into each quarter of a second. */
export class BurstMeter {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #since = -Infinity;
  #count = 0;
  #timer: TimerHandle | undefined;

  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get isOn(): boolean {
    return this.#timer !== undefined;
  }

  note(): void {
    this.#count++;
    if (this.isOn) return;
    const now = this.#clock.monotonic();
    if (now - this.#since >= WINDOW_MS) {
      this.#since = now;
      this.#count = 1;
    }
    if (this.#count >= MANY) this.#watch();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #watch(): void {
    this.#count = 0;
    this.#timer = this.#clock.setTimer(WINDOW_MS, () => {
      if (this.#count >= MANY) return void this.#watch();
      this.#timer = undefined;
      this.#since = -Infinity;
      this.#onEnd();
    });
  }
}
