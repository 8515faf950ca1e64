import { KeyedHeap } from '../queues/keyed-heap.ts';
import { type Clock, sleepOn, type TimerHandle } from './clock.ts';

interface Timer {
  id: number;
  due: number;
  fire: () => void;
}

export interface VirtualClockOptions {
  /** The start time in milliseconds since the Unix epoch. Default: 2026-01-01T00:00:00Z. */
  startMs?: number;
  /**
   * The number of event loop turns without timer changes before time may advance. Default 2: enough for promises and for code that yields with
   * setImmediate or nextTick.
   */
  quietTurns?: number;
}

const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
const DEFAULT_MAX_TIMERS = 100_000;

/**
 * A clock under a test's control. Timers fire in order of their due time, ties in order of creation, and everything that is ready to run (promises,
 * immediates) settles between two timers.
 */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  readonly #quietTurns: number;
  readonly #timers = new KeyedHeap<number, Timer>({ keyOf: (t) => t.id, compare: (a, b) => a.due - b.due || a.id - b.id });
  readonly #holds = new Set<Promise<unknown>>();
  // Stores elapsed time: sums of small numbers stay exact where epoch milliseconds do not.
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

  /** The number of timers. Zero after a component stopped cleanly. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer; undefined if there is none. */
  get nextTimerIn(): number | undefined {
    const timer = this.#timers.peek();
    return timer && timer.due - this.#elapsed;
  }

  /** Pauses time until `work` settles: for real I/O (disk, sockets). */
  hold<T>(work: Promise<T>): Promise<T> {
    this.#holds.add(work);
    const release = () => {
      this.#holds.delete(work);
      this.#changes++;
    };
    work.then(release, release);
    return work;
  }

  /** Advances time by `ms`, firing every due timer, including new ones. */
  advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`time cannot move by ${ms} ms`);
    const target = this.#elapsed + ms;
    return this.#move(async () => {
      while (this.#dueBy(target)) await this.#fireNext();
      this.#elapsed = target;
    });
  }

  /** Advances time to `targetMs` (milliseconds since the Unix epoch). Time never moves back. */
  advanceTo(targetMs: number): Promise<void> {
    return this.advance(targetMs - this.#startMs - this.#elapsed);
  }

  /** Advances from timer to timer until none is left. Throws after `maxTimers`, for endless repetition. */
  runUntilIdle(options: { maxTimers?: number } = {}): Promise<void> {
    const { maxTimers = DEFAULT_MAX_TIMERS } = options;
    return this.#move(async () => {
      for (let fired = 0; this.#timers.size > 0; fired++) {
        if (fired === maxTimers) throw new Error(`still not idle after ${maxTimers} timers: does something repeat for ever?`);
        await this.#fireNext();
      }
    });
  }

  /** Advances from timer to timer until `condition` holds. Throws after `withinMs` of virtual time (default: an hour). */
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

  /** Runs everything that is ready, without advancing time. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      let seen = this.#changes;
      let quiet = 0;
      // An immediate runs after all microtasks, so every promise that can settle has settled.
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
