interface Failures {
  readonly delayMs: number;
  readonly lastAt: number;
}

const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60_000;

/** Delays the replacement of pods that keep failing on a node, with upstream's backoff: 1 s to 15 min. */
export class FailedPodBackoff {
  readonly #failures = new Map<string, Failures>();

  /** How long to wait before the failed pod is replaced. */
  waitMs(key: string, now: number): number {
    const failures = this.#failures.get(key);
    return failures === undefined ? 0 : Math.max(0, failures.lastAt + failures.delayMs - now);
  }

  /** Records that a failed pod is being replaced. */
  replaced(key: string, now: number): void {
    const entry = this.#failures.get(key);
    const isForgiven = entry === undefined || now - entry.lastAt > 2 * LONGEST_MS;
    this.#failures.set(key, { delayMs: isForgiven ? FIRST_MS : Math.min(entry.delayMs * 2, LONGEST_MS), lastAt: now });
  }

  /** Drops entries that have not been used for a while. */
  forgetOld(now: number): void {
    for (const [key, { lastAt }] of this.#failures) if (now - lastAt > 2 * LONGEST_MS) this.#failures.delete(key);
  }
}
