import type { Identified } from '#client';

/** Something that follows a resource, and knows how far it has come. */
export interface Followed {
  readonly resourceVersion: string;
}

/**
 * How far a controller's caches must have come before it may act on a key again: as far as its own last writes. What it would decide on an
 * older state was decided already.
 */
export class OwnWrites {
  readonly #awaited = new Map<string, Map<Followed, number>>();

  /** Of what was written for the key, `cache` will show this. */
  wrote(key: string, cache: Followed, { metadata }: Identified): void {
    const version = Number(metadata.resourceVersion ?? 0);
    const awaited = this.#awaited.get(key) ?? new Map<Followed, number>();
    this.#awaited.set(key, awaited);
    if (version > (awaited.get(cache) ?? 0)) awaited.set(cache, version);
  }

  /** Every cache shows what was written. Until then the key need not come again by itself: the write itself will bring it. */
  areSeen(key: string): boolean {
    const awaited = this.#awaited.get(key);
    if (awaited === undefined) return true;
    if ([...awaited].some(([cache, version]) => Number(cache.resourceVersion) < version)) return false;
    this.#awaited.delete(key);
    return true;
  }

  forget(key: string): void {
    this.#awaited.delete(key);
  }
}
