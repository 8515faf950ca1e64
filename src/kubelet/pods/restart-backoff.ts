import type { Clock } from '#base';

interface Entry {
  delayMs: number;
  updatedAtMs: number;
}

const INITIAL_MS = 10_000;
const MAX_MS = 300_000;

/** Exponential backoff by key: 10 s doubling up to 5 min, reset after 10 minutes. */
export class RestartBackoff {
  readonly #entries = new Map<string, Entry>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: { readonly initialMs: number; readonly maxMs: number } = { initialMs: INITIAL_MS, maxMs: MAX_MS },
  ) {}

  /** When the next attempt is allowed, after the event at `eventMs`; undefined: now. */
  blockedUntil(key: string, eventMs: number): number | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#hasExpired(entry, eventMs)) return undefined;
    const until = eventMs + entry.delayMs;
    return until > this.clock.now() ? until : undefined;
  }

  /** Records an attempt after the event at `eventMs`: the next delay doubles. */
  next(key: string, eventMs: number): void {
    const entry = this.#entries.get(key);
    const { initialMs, maxMs } = this.limits;
    const isFresh = entry === undefined || this.#hasExpired(entry, eventMs);
    const delayMs = isFresh ? initialMs : Math.min(entry.delayMs * 2, maxMs);
    this.#entries.set(key, { delayMs, updatedAtMs: this.clock.now() });
  }

  delayMs(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }

  #hasExpired({ updatedAtMs }: Entry, eventMs: number): boolean {
    return eventMs - updatedAtMs > 2 * this.limits.maxMs;
  }
}

/** As `crashLoopBackOff.maxContainerRestartPeriod`: the maximum delay. */
export function restartBackoff(clock: Clock, maxMs = MAX_MS): RestartBackoff {
  return new RestartBackoff(clock, { initialMs: Math.min(INITIAL_MS, maxMs), maxMs });
}
