import { onAbort } from '../async/abort.ts';
import type { MetricsRegistry } from '../metrics/metrics.ts';
import type { Clock, TimerHandle } from '../time/clock.ts';
import { controllerRateLimiter, type RateLimiter } from '../time/rate-limiter.ts';
import { Fifo } from './fifo.ts';
import { KeyedHeap } from './keyed-heap.ts';
import { type QueueObserver, silentObserver, workQueueMetrics } from './work-queue-metrics.ts';

export interface WorkQueueOptions<K> {
  clock: Clock;
  /** Default: upstream's controller rate limiter. */
  rateLimiter?: RateLimiter<K>;
  /** With `metrics`: the name in upstream's workqueue_* metrics. */
  name?: string;
  metrics?: MetricsRegistry;
}

interface DelayedItem<K> {
  key: K;
  readyAt: number;
  order: number;
}

/**
 * A work queue of keys with the semantics of client-go's workqueue:
 * - a key is queued at most once, however often it is added (dedup);
 * - a key is never processed by two workers at a time: if it is added during processing, it is requeued after `done`;
 * - the earliest of several delays of a key wins;
 * - after `shutDown` nothing is added, and `get` returns what is queued, then undefined.
 * Every key from `get` must be returned with `done`.
 */
export class WorkQueue<K extends string | number> implements Disposable {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter<K>;
  readonly #observer: QueueObserver<K>;
  readonly #ready = new Fifo<K>();
  /** Keys to process: those in #ready, and those in #processing that were added again. */
  readonly #dirty = new Set<K>();
  readonly #processing = new Set<K>();
  readonly #delayed = new KeyedHeap<K, DelayedItem<K>>({
    keyOf: (item) => item.key,
    compare: (a, b) => a.readyAt - b.readyAt || a.order - b.order,
  });
  readonly #getters = new Fifo<(key: K | undefined) => void>();
  readonly #drained: (() => void)[] = [];
  #timer: { due: number; handle: TimerHandle } | undefined;
  #order = 0;
  #shutDown = false;

  constructor(options: WorkQueueOptions<K>) {
    this.#clock = options.clock;
    this.#limiter = options.rateLimiter ?? controllerRateLimiter<K>(options.clock);
    const { metrics, name } = options;
    this.#observer = metrics && name ? workQueueMetrics<K>({ registry: metrics, name, clock: options.clock }) : silentObserver;
  }

  /** The number of ready keys. */
  get length(): number {
    return this.#ready.size;
  }

  /** The number of delayed keys. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** The number of keys being processed. */
  get processing(): number {
    return this.#processing.size;
  }

  get isShutDown(): boolean {
    return this.#shutDown;
  }

  add(key: K): void {
    if (this.#shutDown || this.#dirty.has(key)) return;
    this.#observer.added(key);
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#enqueue(key);
  }

  /** Adds the key once `delayMs` has passed. */
  addAfter(key: K, delayMs: number): void {
    if (delayMs > 0) this.#delay(key, delayMs);
    else this.add(key);
  }

  #delay(key: K, delayMs: number): void {
    if (this.#shutDown) return;
    const readyAt = this.#clock.monotonic() + delayMs;
    if ((this.#delayed.get(key)?.readyAt ?? Infinity) <= readyAt) return;
    this.#delayed.set({ key, readyAt, order: this.#order++ });
    this.#arm();
  }

  /** Adds the key when the rate limiter allows; the delay grows with each call until `forget`. */
  addRateLimited(key: K): void {
    if (this.#shutDown) return;
    this.#observer.retried(key);
    this.addAfter(key, this.#limiter.when(key));
  }

  /** Resets the key's failures. Does not remove it from the queue. */
  forget(key: K): void {
    this.#limiter.forget(key);
  }

  retries(key: K): number {
    return this.#limiter.retries(key);
  }

  /** The next key, when available; undefined after `shutDown`, or when the signal aborts. */
  get(signal?: AbortSignal): Promise<K | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    if (this.#ready.size > 0) return Promise.resolve(this.#take());
    if (this.#shutDown) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#awaitKey(resolve, signal));
  }

  /** Marks the key as processed; if it was added meanwhile it is ready again. */
  done(key: K): void {
    if (!this.#processing.delete(key)) return;
    this.#observer.done(key);
    if (this.#dirty.has(key)) this.#enqueue(key);
    this.#reportDrained();
  }

  /** Accepts no more keys and drops delayed ones; ready keys are still returned. */
  shutDown(): void {
    this.#shutDown = true;
    for (const item of [...this.#delayed]) this.#delayed.delete(item.key);
    this.#arm();
    for (let getter = this.#getters.shift(); getter; getter = this.#getters.shift()) getter(undefined);
    this.#reportDrained();
  }

  /** Shuts down and resolves when every ready or processing key is done. Its workers must continue. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.shutDown();
    });
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  #enqueue(key: K): void {
    this.#ready.push(key);
    const getter = this.#getters.shift();
    if (getter) getter(this.#take());
  }

  #take(): K {
    const key = this.#ready.shift() as K;
    this.#dirty.delete(key);
    this.#processing.add(key);
    this.#observer.started(key);
    return key;
  }

  #awaitKey(resolve: (key: K | undefined) => void, signal: AbortSignal | undefined): void {
    const registration = onAbort(signal, () => {
      this.#getters.delete(getter);
      resolve(undefined);
    });
    const getter = (key: K | undefined) => {
      registration[Symbol.dispose]();
      resolve(key);
    };
    this.#getters.push(getter);
  }

  /** One timer, for the earliest delayed key. */
  #arm(): void {
    const due = this.#delayed.peek()?.readyAt;
    if (due === this.#timer?.due) return;
    this.#timer?.handle.cancel();
    this.#timer = undefined;
    if (due === undefined) return;
    const handle = this.#clock.setTimer(due - this.#clock.monotonic(), () => this.#addDue());
    this.#timer = { due, handle };
  }

  #addDue(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let item = this.#delayed.peek(); item && item.readyAt <= now; item = this.#delayed.peek()) {
      this.#delayed.pop();
      this.add(item.key);
    }
    this.#arm();
  }

  #reportDrained(): void {
    if (!this.#shutDown || this.#processing.size > 0 || this.#ready.size > 0) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
