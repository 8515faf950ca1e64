import type { Clock, TimerHandle } from '#base';

/** One timer for the earliest of several deadlines. */
export class WakeTimer {
  #timer: TimerHandle | undefined;
  #dueMs = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly wake: () => void,
  ) {}

  /** Fires at that time, unless an earlier deadline is set. */
  at(ms: number): void {
    const { clock } = this;
    if (this.#timer !== undefined && this.#dueMs <= ms && this.#dueMs > clock.now()) return;
    this.#timer?.cancel();
    this.#dueMs = ms;
    this.#timer = clock.setTimer(ms - clock.now(), () => {
      this.cancel();
      this.wake();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Infinity;
  }
}
