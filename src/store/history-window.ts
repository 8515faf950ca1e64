import type { Clock, TimerHandle } from '#base';

export interface HistoryWindowOptions {
  readonly clock: Clock;
  /** History younger than this is kept. */
  readonly windowMs: number;
  revision(): number;
  /** Compacts history before a revision; must not throw. */
  compact(revision: number): void;
}

/** Upstream's API server compacts every five minutes what is older than five minutes. */
export const DEFAULT_HISTORY_WINDOW_MS = 5 * 60_000;

/** The granularity of the window: history is between one window and one window plus one step long. */
const STEPS = 10;

/** Compacts in the background: records revisions over time, and compacts those outside the window. */
export class HistoryWindow {
  readonly #options: HistoryWindowOptions;
  readonly #samples: number[] = [];
  #timer: TimerHandle | undefined;

  constructor(options: HistoryWindowOptions) {
    this.#options = options;
    if (Number.isFinite(options.windowMs)) this.#schedule();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(): void {
    const { clock, windowMs } = this.#options;
    this.#timer = clock.setTimer(windowMs / STEPS, () => {
      this.#schedule();
      this.#step();
    });
  }

  #step(): void {
    this.#samples.push(this.#options.revision());
    if (this.#samples.length <= STEPS) return;
    const old = this.#samples.shift()!;
    if (old > 1) this.#options.compact(old);
  }
}
