import type { Clock } from '#base';

interface Expected {
  creations: number;
  /** Names of what is to go away, so that a deletion by somebody else is not taken for one of ours. */
  readonly deletions: Set<string>;
  readonly sinceMs: number;
}

/** After this time a controller looks again, whatever it still expects: the events must have been lost. */
const TIMEOUT_MS = 300_000;

/**
 * What a controller did and has not yet seen in its cache. It acts on a key only when all of that has arrived, so that a stale cache never
 * makes it do things twice. Each creation or deletion is announced before the request and observed by the informer's handler; when the
 * request fails, it is taken back.
 */
export class Expectations {
  readonly #byKey = new Map<string, Expected>();

  constructor(private readonly clock: Clock) {}

  expectCreations(key: string, count: number): void {
    this.#byKey.set(key, { creations: count, deletions: new Set(), sinceMs: this.clock.monotonic() });
  }

  expectDeletions(key: string, names: readonly string[]): void {
    this.#byKey.set(key, { creations: 0, deletions: new Set(names), sinceMs: this.clock.monotonic() });
  }

  /** More of either, on top of what is expected already. */
  raise(key: string, { creations = 0, deletions = [] }: { creations?: number; deletions?: readonly string[] }): void {
    const expected = this.#byKey.get(key);
    if (expected === undefined) {
      this.#byKey.set(key, { creations, deletions: new Set(deletions), sinceMs: this.clock.monotonic() });
      return;
    }
    expected.creations += creations;
    for (const name of deletions) expected.deletions.add(name);
  }

  /** One arrived, or could not be made. */
  creationObserved(key: string, count = 1): void {
    const expected = this.#byKey.get(key);
    if (expected) expected.creations -= count;
  }

  /** One went away, or could not be deleted. */
  deletionObserved(key: string, name: string): void {
    this.#byKey.get(key)?.deletions.delete(name);
  }

  /** It was deleted, and is not yet seen to be gone. */
  expectsDeletion(key: string, name: string): boolean {
    return this.#byKey.get(key)?.deletions.has(name) === true;
  }

  /** Nothing is outstanding, or it has been for too long. */
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
