interface Failures {
  readonly delayMs: number;
  readonly lastAt: number;
}

const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60_000;

/** A node that refuses a daemon again and again gets the next one later each time, as upstream does it: from a second to a quarter of an hour. */
export class FailedPodBackoff {
  readonly #failures = new Map<string, Failures>();

  /** How long a pod that failed there is left as it is. */
  waitMs(key: string, now: number): number {
    const failures = this.#failures.get(key);
    return failures === undefined ? 0 : Math.max(0, failures.lastAt + failures.delayMs - now);
  }

  /** One failed, and is about to be replaced. */
  replaced(key: string, now: number): void {
    const known = this.#failures.get(key);
    const isForgiven = known === undefined || now - known.lastAt > 2 * LONGEST_MS;
    this.#failures.set(key, { delayMs: isForgiven ? FIRST_MS : Math.min(known.delayMs * 2, LONGEST_MS), lastAt: now });
  }

  /** What nobody asked about for long need not be kept. */
  forgetOld(now: number): void {
    for (const [key, { lastAt }] of this.#failures) if (now - lastAt > 2 * LONGEST_MS) this.#failures.delete(key);
  }
}
