import { Backoff, type Clock, type TimerHandle } from '#base';

/** Most volumes are bound within milliseconds; the interval grows while none is. */
const CHECKS = { initialMs: 5, maxMs: 200 };

interface Waiter {
  /** Whether it is done. */
  check(): boolean;
  stop(reason: unknown): void;
}

/** Waits of all pods whose volumes are being bound. They share one timer: with a timer and an abort listener each, the cost would be quadratic. */
export class BindingWaiters {
  readonly #waiters = new Set<Waiter>();
  #backoff = new Backoff(CHECKS);
  #timer: TimerHandle | undefined;

  constructor(
    private readonly clock: Clock,
    signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.#stop(signal.reason), { once: true });
  }

  /** Resolves to the first result of `check` that is not undefined; rejects when the scheduler stops. */
  until<T>(check: () => T | undefined): Promise<T> {
    const result = check();
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        check: () => {
          const next = check();
          if (next !== undefined) resolve(next);
          return next !== undefined;
        },
        stop: reject,
      };
      this.#waiters.add(waiter);
      this.#schedule(new Backoff(CHECKS));
    });
  }

  #schedule(backoff: Backoff): void {
    this.#timer?.cancel();
    this.#backoff = backoff;
    this.#timer = this.clock.setTimer(backoff.next(), () => this.#checkAll());
  }

  #checkAll(): void {
    this.#timer = undefined;
    const before = this.#waiters.size;
    for (const waiter of this.#waiters) if (waiter.check()) this.#waiters.delete(waiter);
    if (this.#waiters.size === 0) return;
    this.#schedule(this.#waiters.size < before ? new Backoff(CHECKS) : this.#backoff);
  }

  #stop(reason: unknown): void {
    this.#timer?.cancel();
    for (const { stop } of this.#waiters) stop(reason);
    this.#waiters.clear();
  }
}
