import { Fifo } from '../queues/fifo.ts';
import { onAbort } from './abort.ts';

interface Waiter {
  grant: () => void;
}

/** At most `permits` concurrent holders; waiters are served first come, first served. */
export class AsyncSemaphore {
  readonly #waiters = new Fifo<Waiter>();
  #free: number;

  constructor(permits: number) {
    if (!(permits >= 1)) throw new RangeError(`a semaphore needs at least 1 permit, not ${permits}`);
    this.#free = permits;
  }

  /** The number of waiters. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Resolves with a permit; dispose to release it (idempotent). Rejects with the signal's reason if it aborts first. */
  async acquire(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    return this.#hold();
  }

  /** Runs `work` while holding a permit. */
  async run<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
    const hold = await this.acquire(signal);
    try {
      return await work();
    } finally {
      hold[Symbol.dispose]();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const registration = onAbort(signal, (reason) => {
        this.#waiters.delete(waiter);
        reject(reason);
      });
      const waiter: Waiter = {
        grant: () => {
          registration[Symbol.dispose]();
          resolve();
        },
      };
      this.#waiters.push(waiter);
    });
  }

  #hold(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#release();
        isHeld = false;
      },
    };
  }

  #release(): void {
    const next = this.#waiters.shift();
    if (next) next.grant();
    else this.#free++;
  }
}

/** A fair lock. Not re-entrant. */
export class AsyncMutex extends AsyncSemaphore {
  constructor() {
    super(1);
  }
}
