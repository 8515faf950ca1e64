import type { Clock, Requeue } from '#base';

const RETRY_MS = 300_000;
/** Beyond this the oldest entries are retried earlier. */
const MAX_ENTRIES = 10_000;

interface Entry {
  readonly request: string;
  readonly untilMs: number;
}

/** Requests that a driver rejected as infeasible: retried only after a delay, or when the request changes. */
export class InfeasibleRequests {
  readonly #entries = new Map<string, Entry>();

  constructor(private readonly clock: Clock) {}

  add(key: string, request: string): Requeue {
    this.#entries.delete(key);
    this.#entries.set(key, { request, untilMs: this.clock.now() + RETRY_MS });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    return { afterMs: RETRY_MS };
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** How long the same request must wait; undefined when it need not. */
  delay(key: string, request: string): Requeue | undefined {
    const entry = this.#entries.get(key);
    const afterMs = entry?.request === request ? entry.untilMs - this.clock.now() : 0;
    if (afterMs > 0) return { afterMs };
    this.#entries.delete(key);
    return undefined;
  }
}
