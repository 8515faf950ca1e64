import type { Identified } from '#client';

/** What a controller wrote under a key and its cache may not show yet. Resource versions of one kind can be compared. */
export class WrittenObjects {
  readonly #versions = new Map<string, Map<string, number>>();

  wrote(key: string, { metadata }: Identified): void {
    this.#of(key).set(metadata.uid ?? '', Number(metadata.resourceVersion ?? 0));
  }

  /** From now on it must not be there any more. */
  deleted(key: string, { metadata }: Identified): void {
    this.#of(key).set(metadata.uid ?? '', Infinity);
  }

  /** The cache saw it go, whoever deleted it. */
  observedDeletion(key: string, { metadata }: Identified): void {
    const versions = this.#versions.get(key);
    if (versions?.delete(metadata.uid ?? '') && versions.size === 0) this.#versions.delete(key);
  }

  /** The cached objects are older than what was written. */
  isStale(key: string, cached: readonly Identified[]): boolean {
    const versions = this.#versions.get(key);
    if (versions === undefined) return false;
    const seen = new Map(cached.map(({ metadata }) => [metadata.uid ?? '', Number(metadata.resourceVersion ?? 0)]));
    return [...versions].some(([uid, version]) => {
      const found = seen.get(uid);
      return version === Infinity ? found !== undefined : found === undefined || found < version;
    });
  }

  forget(key: string): void {
    this.#versions.delete(key);
  }

  #of(key: string): Map<string, number> {
    const known = this.#versions.get(key) ?? new Map<string, number>();
    this.#versions.set(key, known);
    return known;
  }
}
