import type { Identified } from '#client';

/** A cache with its current resource version. */
export interface ResourceFollower {
  readonly resourceVersion: string;
}

/** Delays a key until the caches show the controller's own last writes, so that it never decides on an older state. */
export class OwnWrites {
  readonly #awaited = new Map<string, Map<ResourceFollower, number>>();

  /** Records that `cache` must reach the written version. */
  wrote(key: string, cache: ResourceFollower, { metadata }: Identified): void {
    const version = Number(metadata.resourceVersion ?? 0);
    const awaited = this.#awaited.get(key) ?? new Map<ResourceFollower, number>();
    this.#awaited.set(key, awaited);
    if (version > (awaited.get(cache) ?? 0)) awaited.set(cache, version);
  }

  /** Forgets the writes once all caches show them. False: not yet; the event of the write requeues the key. */
  clearSeen(key: string): boolean {
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
