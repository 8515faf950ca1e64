import { type Clock, pushAll, type TimerHandle, TokenBucket } from '#base';
import type { AuditBackend } from './audit-backend.ts';
import type { AuditEvent } from './audit-event.ts';
import type { AuditMetrics } from './audit-metrics.ts';

export interface BatchConfig {
  /** The buffer size; further events are dropped with an error. */
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  readonly maxBatchWaitMs: number;
  readonly throttle?: { readonly perSecond: number; readonly burst: number };
}

/** The concurrency limit; more batches wait in the buffer. */
const MAX_BATCHES_IN_FLIGHT = 16;

/** Sends events asynchronously in batches. */
export class BufferedBackend implements AuditBackend {
  readonly #delegate: AuditBackend;
  readonly #config: BatchConfig;
  readonly #clock: Clock;
  readonly #metrics: AuditMetrics;
  readonly #throttle: TokenBucket | undefined;
  #waiting: AuditEvent[] = [];
  #timer: TimerHandle | undefined;
  readonly #inFlight = new Set<Promise<unknown>>();
  #isThrottled = false;
  #isClosed = false;

  constructor(delegate: AuditBackend, config: BatchConfig, { clock, metrics }: { readonly clock: Clock; readonly metrics: AuditMetrics }) {
    this.#delegate = delegate;
    this.#config = config;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#throttle = config.throttle && new TokenBucket(clock, config.throttle);
  }

  process(events: readonly AuditEvent[]): boolean {
    const room = this.#isClosed ? 0 : Math.max(0, this.#config.bufferSize - this.#waiting.length);
    if (events.length > room) {
      const detail = this.#isClosed ? 'audit backend shut down' : 'audit buffer queue blocked';
      this.#metrics.fail('buffered', new Error(detail), events.slice(room));
    }
    pushAll(this.#waiting, events.slice(0, room));
    this.#schedule();
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    while (this.#waiting.length > 0) this.#send();
    // The delegate limits how long a receiver that does not answer holds up the stop.
    await Promise.all([this.#delegate.close(), ...this.#inFlight]);
  }

  /** Sends full batches at once, others after the maximum wait. */
  #schedule(): void {
    if (this.#isClosed) return;
    while (this.#waiting.length >= this.#config.maxBatchSize && this.#reserveSend()) this.#send();
    if (this.#waiting.length > 0) this.#timer ??= this.#clock.setTimer(this.#config.maxBatchWaitMs, () => this.#onTimer());
  }

  #onTimer(): void {
    this.#timer = undefined;
    if (this.#waiting.length > 0 && this.#reserveSend()) this.#send();
    this.#schedule();
  }

  /** False when the batch has to wait; it is sent once the throttle allows. */
  #reserveSend(): boolean {
    if (this.#isThrottled || this.#inFlight.size >= MAX_BATCHES_IN_FLIGHT) return false;
    const waitMs = this.#throttle?.reserve() ?? 0;
    if (waitMs === 0) return true;
    this.#isThrottled = true;
    const wait = this.#clock.sleep(waitMs).then(() => {
      this.#isThrottled = false;
      // The acquired token is for this batch.
      if (this.#waiting.length > 0 && !this.#isClosed) this.#send();
      this.#inFlight.delete(wait);
      this.#schedule();
    });
    this.#inFlight.add(wait);
    return false;
  }

  #send(): void {
    const batch = this.#waiting.splice(0, this.#config.maxBatchSize);
    const sent = Promise.resolve(this.#delegate.process(batch)).finally(() => {
      this.#inFlight.delete(sent);
      this.#schedule();
    });
    this.#inFlight.add(sent);
  }
}
