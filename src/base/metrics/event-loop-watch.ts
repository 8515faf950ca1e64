import type { Logger } from '../logging/logger.ts';
import { realClock, type TimerHandle } from '../time/clock.ts';
import type { MetricsRegistry } from './metrics.ts';

/** What ran while the event loop was blocked, for the log. */
export interface Activity {
  readonly method: string;
  readonly path: string;
}

export interface EventLoopWatchOptions {
  readonly metrics: MetricsRegistry;
  readonly logger: Logger;
  /** Longer turns are logged as warnings, those over the budget of 50 ms for debugging. Default 250. */
  readonly thresholdMs?: number;
}

/** The measuring interval: short enough to notice every relevant turn, long enough to cost nothing. */
const INTERVAL_MS = 100;
const DEFAULT_THRESHOLD_MS = 250;
/** The budget of one turn. Longer ones are counted, and logged for debugging. */
const BUDGET_MS = 50;
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How long an activity ran, as far as it is known. */
interface Run {
  readonly activity: Activity;
  readonly ms: number;
}

/** The share of the blocked time that an activity must have used to be named. */
const CULPRIT_SHARE = 0.5;

/** Measures how late timers fire, which is how long other work was blocked. Always on the real clock. */
export class EventLoopWatch implements Disposable {
  readonly #lag;
  readonly #overBudget;
  readonly #logger: Logger;
  readonly #thresholdMs: number;
  #timer: TimerHandle | undefined;
  /** What runs in this turn, since when; undefined once the turn has ended. */
  #current: { readonly activity: Activity; readonly sinceMs: number } | undefined;
  /** The longest run since the last measurement. */
  #longest: Run | undefined;
  #awaitsEnd = false;

  constructor({ metrics, logger, thresholdMs = DEFAULT_THRESHOLD_MS }: EventLoopWatchOptions) {
    this.#lag = metrics
      .histogram({
        name: 'sampan_event_loop_lag_seconds',
        help: 'How late a timer fired: how long a turn of the event loop kept others waiting.',
        buckets: BUCKETS,
      })
      .with({});
    this.#overBudget = metrics
      .counter({ name: 'sampan_event_loop_over_budget_total', help: `Turns of the event loop that took ${BUDGET_MS} ms and more.` })
      .with({});
    this.#logger = logger;
    this.#thresholdMs = thresholdMs;
  }

  start(): void {
    if (this.#timer === undefined) this.#arm();
  }

  /** Marks the start of work, which lasts until other work starts or the turn ends. */
  enter(activity: Activity): void {
    const now = realClock.monotonic();
    this.#endRun(now);
    this.#current = { activity, sinceMs: now };
    if (this.#awaitsEnd) return;
    this.#awaitsEnd = true;
    setImmediate(() => {
      this.#awaitsEnd = false;
      this.#endRun(realClock.monotonic());
    });
  }

  #endRun(now: number): void {
    if (this.#current === undefined) return;
    const { activity, sinceMs } = this.#current;
    this.#current = undefined;
    if (now - sinceMs > (this.#longest?.ms ?? 0)) this.#longest = { activity, ms: now - sinceMs };
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    const due = realClock.monotonic() + INTERVAL_MS;
    this.#timer = realClock.setTimer(INTERVAL_MS, () => {
      this.#measured(Math.max(0, realClock.monotonic() - due));
      this.#arm();
    });
  }

  #measured(lagMs: number): void {
    this.#lag.observe(lagMs / 1000);
    this.#endRun(realClock.monotonic());
    const longest = this.#longest;
    this.#longest = undefined;
    if (lagMs < Math.min(BUDGET_MS, this.#thresholdMs)) return;
    this.#overBudget.inc();
    const level = lagMs < this.#thresholdMs ? 'debug' : 'warn';
    const blockedMs = Math.round(lagMs);
    if (longest === undefined || longest.ms < lagMs * CULPRIT_SHARE) {
      this.#logger[level](
        'the event loop was blocked by other work than a request that began, such as a controller or the rest of a request',
        {
          blockedMs,
        },
      );
      return;
    }
    const { method, path } = longest.activity;
    this.#logger[level]('a request blocked the event loop', { blockedMs, ranMs: Math.round(longest.ms), method, path: path.slice(0, 200) });
  }
}
