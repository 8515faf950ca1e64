import type { Clock } from '#base';

interface Expectation {
  creations: number;
  /** Names of expected deletions, so that deletions by others are not counted. */
  readonly deletions: Set<string>;
  readonly sinceMs: number;
}

/** Expectations expire after this time: the events must have been lost. */
const TIMEOUT_MS = 300_000;
const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * What a controller created and deleted but its cache does not show yet. It acts on a key only when all of that was observed, so that a stale
 * cache never makes it act twice. Each creation or deletion is announced before the request and observed by the informer's handler; when the
 * request fails, it is withdrawn.
 */
export class Expectations {
  readonly #byKey = new Map<string, Expectation>();

  constructor(private readonly clock: Clock) {}

  expectCreations(key: string, count: number): void {
    this.#byKey.set(key, { creations: count, deletions: new Set(), sinceMs: this.clock.monotonic() });
  }

  expectDeletions(key: string, names: readonly string[]): void {
    this.#byKey.set(key, { creations: 0, deletions: new Set(names), sinceMs: this.clock.monotonic() });
  }

  /** Adds to existing expectations. */
  raise(key: string, { creations = 0, deletions = [] }: { creations?: number; deletions?: readonly string[] }): void {
    const expected = this.#byKey.get(key);
    if (expected === undefined) {
      this.#byKey.set(key, { creations, deletions: new Set(deletions), sinceMs: this.clock.monotonic() });
      return;
    }
    expected.creations += creations;
    for (const name of deletions) expected.deletions.add(name);
  }

  /** A creation was observed, or failed. */
  creationObserved(key: string, count = 1): void {
    const expected = this.#byKey.get(key);
    if (expected) expected.creations -= count;
  }

  /** A deletion was observed, or failed. */
  deletionObserved(key: string, name: string): void {
    this.#byKey.get(key)?.deletions.delete(name);
  }

  /** Names of what the controller deleted and has not yet observed. */
  expectedDeletions(key: string): ReadonlySet<string> {
    return this.#byKey.get(key)?.deletions ?? NO_NAMES;
  }

  /** Nothing is outstanding, or the expectation has expired. */
  satisfied(key: string): boolean {
    const expected = this.#byKey.get(key);
    if (expected === undefined) return true;
    if (expected.creations <= 0 && expected.deletions.size === 0) return true;
    return this.clock.monotonic() - expected.sinceMs > TIMEOUT_MS;
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
