import { type Clock, realClock } from '../time/clock.ts';
import type { MaybePromise } from './maybe-promise.ts';

/** How long promises may run before timers and sockets get a turn. */
const TURN_MS = 10;

/**
 * Keeps work that only awaits promises from starving timers and sockets: check `isSpent` between two steps, and await `next` if it is. Never spent on
 * a virtual clock, so that histories are reproducible.
 */
export class TurnBudget {
  readonly #isReal: boolean;
  readonly #turnMs: number;
  #startedMs: number;
  #next: Promise<void> | undefined;

  constructor(clock: Clock, turnMs = TURN_MS) {
    this.#isReal = clock === realClock;
    this.#turnMs = turnMs;
    this.#startedMs = realClock.monotonic();
  }

  get isSpent(): boolean {
    return this.#isReal && realClock.monotonic() - this.#startedMs > this.#turnMs;
  }

  /** The value; if the budget is spent, in the next turn of the event loop. */
  resumeWith<T>(value: T): MaybePromise<T> {
    return this.isSpent ? this.next().then(() => value) : value;
  }

  /** Resolves in the next turn of the event loop. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        this.#startedMs = realClock.monotonic();
        resolve();
      });
    });
    return this.#next;
  }
}

/** Runs work that pauses by `yield` in one go. */
export function runSteps<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs work that pauses by `yield` in as many turns of the event loop as it takes: short work is done when this returns. */
export function runInTurns<T>(steps: Generator<void, T>, clock: Clock): MaybePromise<T> {
  const turn = new TurnBudget(clock);
  do {
    const { done, value } = steps.next();
    if (done) return value;
  } while (!turn.isSpent);
  return runOn(steps, turn);
}

async function runOn<T>(steps: Generator<void, T>, turn: TurnBudget): Promise<T> {
  for (;;) {
    if (turn.isSpent) await turn.next();
    const { done, value } = steps.next();
    if (done) return value;
  }
}
