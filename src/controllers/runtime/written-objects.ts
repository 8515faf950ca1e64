import type { Identified } from '#client';

/** A controller's writes that its cache may not show yet. Resource versions of one kind are comparable. */
export class WrittenObjects {
  readonly #versions = new Map<string, Map<string, number>>();

  wrote(key: string, { metadata }: Identified): void {
    this.#of(key).set(metadata.uid ?? '', Number(metadata.resourceVersion ?? 0));
  }

  /** Records that the object must disappear from the cache. */
  deleted(key: string, { metadata }: Identified): void {
    this.#of(key).set(metadata.uid ?? '', Infinity);
  }

  /** The cache no longer has the object. */
  observedDeletion(key: string, { metadata }: Identified): void {
    const versions = this.#versions.get(key);
    if (versions?.delete(metadata.uid ?? '') && versions.size === 0) this.#versions.delete(key);
  }

  /** Whether the cached objects are older than the writes. */
  isStale(key: string, cached: readonly Identified[]): boolean {
    const versions = this.#versions.get(key);
    if (versions === undefined) return false;
    const seen = new Map(cached.map(({ metadata }) => [metadata.uid ?? '', Number(metadata.resourceVersion ?? 0)]));
    return [...versions].some(([uid, version]) => {
      const seenVersion = seen.get(uid);
      return version === Infinity ? seenVersion !== undefined : seenVersion === undefined || seenVersion < version;
    });
  }

  forget(key: string): void {
    this.#versions.delete(key);
  }

  #of(key: string): Map<string, number> {
    const versions = this.#versions.get(key) ?? new Map<string, number>();
    this.#versions.set(key, versions);
    return versions;
  }
}
