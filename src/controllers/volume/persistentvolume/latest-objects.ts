import { type Identified, keyOf, type Lister, type ObjectKey } from '#client';

/** Cached objects, overlaid with newer writes that the cache does not show yet. Only existing objects are ever written. */
export class LatestObjects<T extends Identified> {
  readonly #written = new Map<string, T>();

  constructor(private readonly lister: Lister<T>) {}

  get(key: ObjectKey): T | undefined {
    return this.#latest(key.namespace ? `${key.namespace}/${key.name}` : key.name, this.lister.get(key));
  }

  list(): readonly T[] {
    const cached = this.lister.list();
    return this.#written.size === 0 ? cached : cached.map((object) => this.#latest(keyOf(object), object) ?? object);
  }

  /** From an index of the cache, which may be older than the last write. */
  byIndex(index: string, value: string): readonly T[] {
    const cached = this.lister.byIndex(index, value);
    return this.#written.size === 0 ? cached : cached.map((object) => this.#latest(keyOf(object), object) ?? object);
  }

  wrote(object: T): void {
    this.#written.set(keyOf(object), object);
  }

  #latest(key: string, cached: T | undefined): T | undefined {
    const written = this.#written.get(key);
    if (written === undefined) return cached;
    if (cached !== undefined && versionOf(cached) < versionOf(written)) return written;
    // The cache has caught up, or the object was deleted.
    this.#written.delete(key);
    return cached;
  }
}

function versionOf({ metadata }: Identified): number {
  return Number(metadata.resourceVersion ?? 0);
}
