import type { Clock, TimerHandle } from '#base';

/** Claims are watched; deadlines and deleted pods are polled at upstream's interval. */
const CHECK_MS = 1_000;

interface Waiter {
  readonly keys: readonly string[];
  /** Whether it is done. */
  check(): boolean;
  stop(reason: unknown): void;
}

/** Waits of all pods whose volumes are being bound. A change of a claim wakes only its own pods, and all share one timer. */
export class BindingWaiters {
  readonly #waiters = new Set<Waiter>();
  readonly #byKey = new Map<string, Set<Waiter>>();
  #timer: TimerHandle | undefined;

  constructor(
    private readonly clock: Clock,
    signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.#stop(signal.reason), { once: true });
  }

  /** Resolves to the first result of `check` that is not undefined; rejects when the scheduler stops. `keys`: of the claims it depends on. */
  until<T>(keys: readonly string[], check: () => T | undefined): Promise<T> {
    const result = check();
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve, reject) => {
      const isDone = () => {
        const next = check();
        if (next !== undefined) resolve(next);
        return next !== undefined;
      };
      this.#add({ keys, check: isDone, stop: reject });
    });
  }

  /** A claim changed, or is gone. */
  changed(key: string): void {
    for (const waiter of this.#byKey.get(key) ?? []) this.#check(waiter);
    this.#schedule();
  }

  #add(waiter: Waiter): void {
    this.#waiters.add(waiter);
    for (const key of waiter.keys) {
      const others = this.#byKey.get(key);
      if (others === undefined) this.#byKey.set(key, new Set([waiter]));
      else others.add(waiter);
    }
    this.#schedule();
  }

  #check(waiter: Waiter): void {
    if (!waiter.check()) return;
    this.#waiters.delete(waiter);
    for (const key of waiter.keys) {
      const others = this.#byKey.get(key);
      others?.delete(waiter);
      if (others?.size === 0) this.#byKey.delete(key);
    }
  }

  /** The timer runs only while there are waiters. */
  #schedule(): void {
    if (this.#waiters.size > 0) {
      this.#timer ??= this.clock.setTimer(CHECK_MS, () => this.#checkAll());
      return;
    }
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #checkAll(): void {
    this.#timer = undefined;
    for (const waiter of this.#waiters) this.#check(waiter);
    this.#schedule();
  }

  #stop(reason: unknown): void {
    this.#timer?.cancel();
    for (const { stop } of this.#waiters) stop(reason);
    this.#waiters.clear();
    this.#byKey.clear();
  }
}
