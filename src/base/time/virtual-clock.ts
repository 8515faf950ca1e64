import { KeyedHeap } from '../queues/keyed-heap.ts';
import { type Clock, sleepOn, type TimerHandle } from './clock.ts';

interface Timer {
  id: number;
  due: number;
  fire: () => void;
}

export interface VirtualClockOptions {
  /** The time at the start, in milliseconds since the Unix epoch. Default: 2026-01-01T00:00:00Z. */
  startMs?: number;
  /**
   * Turns of the event loop that must pass without a timer being set or cancelled before time may move.
   * Default 2: enough for promises and for code that yields with setImmediate or nextTick.
   */
  quietTurns?: number;
}

const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
const DEFAULT_MAX_TIMERS = 100_000;

/**
 * A clock whose time moves only when told. Timers fire in order of their due time, ties in order of their
 * creation, and everything that is ready to run (promises, immediates) runs to rest between two timers.
 */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  readonly #quietTurns: number;
  readonly #timers = new KeyedHeap<number, Timer>({ keyOf: (t) => t.id, compare: (a, b) => a.due - b.due || a.id - b.id });
  readonly #holds = new Set<Promise<unknown>>();
  // Time is kept as what has passed, not as what it is: sums of small numbers stay exact where epoch milliseconds do not.
  #elapsed = 0;
  #lastId = 0;
  #changes = 0;
  #moving = false;

  constructor(options: VirtualClockOptions = {}) {
    this.#startMs = options.startMs ?? DEFAULT_START_MS;
    this.#quietTurns = options.quietTurns ?? 2;
  }

  now(): number {
    return Math.floor(this.#startMs + this.#elapsed);
  }

  monotonic(): number {
    return this.#elapsed;
  }

  setTimer(delayMs: number, fire: () => void): TimerHandle {
    const id = ++this.#lastId;
    this.#changes++;
    if (delayMs !== Infinity) this.#timers.set({ id, due: this.#elapsed + Math.max(delayMs, 0), fire });
    return {
      cancel: () => {
        if (this.#timers.delete(id)) this.#changes++;
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** How many timers are set. Zero after a component stopped cleanly. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** How many milliseconds until the next timer is due; undefined when none is set. */
  get nextTimerIn(): number | undefined {
    const timer = this.#timers.peek();
    return timer && timer.due - this.#elapsed;
  }

  /** Time stands still until `work` settles: for real I/O (a disk, a socket) that virtual time must wait for. */
  hold<T>(work: Promise<T>): Promise<T> {
    this.#holds.add(work);
    const release = () => {
      this.#holds.delete(work);
      this.#changes++;
    };
    work.then(release, release);
    return work;
  }

  /** Moves time by `ms`, firing every timer that falls due on the way, those set on the way included. */
  advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`time cannot move by ${ms} ms`);
    const target = this.#elapsed + ms;
    return this.#move(async () => {
      while (this.#dueBy(target)) await this.#fireNext();
      this.#elapsed = target;
    });
  }

  /** Moves time to `targetMs` (milliseconds since the Unix epoch), as `advance` does. Time never moves back. */
  advanceTo(targetMs: number): Promise<void> {
    return this.advance(targetMs - this.#startMs - this.#elapsed);
  }

  /** Moves time from timer to timer until none is left. Throws after `maxTimers`: something repeats for ever. */
  runUntilIdle(options: { maxTimers?: number } = {}): Promise<void> {
    const { maxTimers = DEFAULT_MAX_TIMERS } = options;
    return this.#move(async () => {
      for (let fired = 0; this.#timers.size > 0; fired++) {
        if (fired === maxTimers) throw new Error(`still not idle after ${maxTimers} timers: does something repeat for ever?`);
        await this.#fireNext();
      }
    });
  }

  /** Moves time from timer to timer until `condition` holds. Throws after `withinMs` of virtual time (default: an hour). */
  runUntil(condition: () => boolean, options: { withinMs?: number } = {}): Promise<void> {
    const { withinMs = 3_600_000 } = options;
    const deadline = this.#elapsed + withinMs;
    return this.#move(async () => {
      while (!condition()) {
        if (this.#timers.size === 0) throw new Error('the condition does not hold, and no timer is left to wait for');
        if (!this.#dueBy(deadline)) throw new Error(`the condition does not hold after ${withinMs} ms of virtual time`);
        await this.#fireNext();
      }
    });
  }

  /** Lets everything that is ready run to rest, without moving time. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      let seen = this.#changes;
      let quiet = 0;
      // Every promise that can settle has settled when an immediate runs: immediates come after all microtasks.
      const turn = () => {
        if (this.#holds.size > 0) return void Promise.race(this.#holds).then(again, again);
        quiet = seen === this.#changes ? quiet + 1 : 0;
        seen = this.#changes;
        if (quiet < this.#quietTurns) setImmediate(turn);
        else resolve();
      };
      const again = () => void setImmediate(turn);
      setImmediate(turn);
    });
  }

  #dueBy(elapsed: number): boolean {
    const timer = this.#timers.peek();
    return timer !== undefined && timer.due <= elapsed;
  }

  async #fireNext(): Promise<void> {
    const timer = this.#timers.pop();
    if (!timer) return;
    this.#elapsed = timer.due;
    timer.fire();
    await this.settle();
  }

  async #move(run: () => Promise<void>): Promise<void> {
    if (this.#moving) throw new Error('the clock is moving already: await the earlier advance first');
    this.#moving = true;
    try {
      await this.settle();
      await run();
      await this.settle();
    } finally {
      this.#moving = false;
    }
  }
}
