import { itemsNotIn } from '#base';
import type { Identified, ObjectKey } from '../kube-object.ts';
import { keyOf, keyText } from '../kube-object.ts';

/** The index values of an object. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Reads the cached objects of a kind. They are shared and must not be modified. */
export interface Lister<T> {
  get(key: ObjectKey): T | undefined;
  /** All objects, or those of one namespace, unordered. */
  list(namespace?: string): readonly T[];
  /** How many `list` would return. */
  count(namespace?: string): number;
  /** The objects with this index value. Throws on unknown indexes. */
  byIndex(name: string, value: string): readonly T[];
  /** How many `byIndex` would return. */
  countByIndex(name: string, value: string): number;
  readonly size: number;
}

interface Index<T> {
  readonly valuesOf: IndexFunction<T>;
  /** As it was defined: `valuesOf` does not throw. */
  readonly defined: IndexFunction<T>;
  /** Object keys by index value: an update that keeps the value leaves them unchanged. */
  readonly buckets: Map<string, Set<string>>;
}

/** The state of one kind, with its indexes. */
export class ObjectCache<T extends Identified> implements Lister<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  /** Created on first use: many caches are never read by namespace. */
  #namespaces: Index<T> | undefined;

  /** Objects that an index function failed on. */
  readonly #failed = new WeakSet<T>();

  /** Called once for an object that an index function fails on: it is in the cache, and not in that index. */
  constructor(private readonly onIndexFailure: (object: T, error: unknown) => void = () => {}) {}

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key));
  }

  getByKey(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  list(namespace?: string): readonly T[] {
    return namespace ? this.#objectsIn(this.#byNamespace, namespace) : [...this.#objects.values()];
  }

  count(namespace?: string): number {
    return namespace ? (this.#byNamespace.buckets.get(namespace)?.size ?? 0) : this.#objects.size;
  }

  get #byNamespace(): Index<T> {
    this.#namespaces ??= this.#indexOf(namespaceOf);
    return this.#namespaces;
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#objectsIn(this.#index(name), value);
  }

  countByIndex(name: string, value: string): number {
    return this.#index(name).buckets.get(value)?.size ?? 0;
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new TypeError(`there is no index "${name}"`);
    return index;
  }

  #objectsIn({ buckets }: Index<T>, value: string): readonly T[] {
    const objects: T[] = [];
    for (const key of buckets.get(value) ?? []) objects.push(this.#objects.get(key)!);
    return objects;
  }

  /** All values of an index. */
  indexValues(name: string): Iterable<string> {
    return this.#indexes.get(name)?.buckets.keys() ?? [];
  }

  /** Adding the same index twice is a no-op; a different one with the same name throws. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const index = this.#indexes.get(name);
    if (index?.defined === valuesOf) return;
    if (index !== undefined) throw new TypeError(`index "${name}" is defined already, in another way`);
    this.#indexes.set(name, this.#indexOf(valuesOf));
  }

  #indexOf(defined: IndexFunction<T>): Index<T> {
    const valuesOf = (object: T) => {
      try {
        return defined(object);
      } catch (error) {
        if (!this.#failed.has(object)) this.onIndexFailure(object, error);
        this.#failed.add(object);
        return NO_VALUES;
      }
    };
    const index: Index<T> = { valuesOf, defined, buckets: new Map() };
    for (const [key, object] of this.#objects) insert(index, key, object);
    return index;
  }

  /** Returns the previous object. */
  set(object: T): T | undefined {
    const key = keyOf(object);
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    if (previous === undefined && this.#namespaces !== undefined) insert(this.#namespaces, key, object);
    for (const index of this.#indexes.values()) {
      if (previous === undefined) insert(index, key, object);
      else replace(index, key, { previous, object });
    }
    return previous;
  }

  delete(key: string): T | undefined {
    const previous = this.#objects.get(key);
    if (previous === undefined) return undefined;
    this.#objects.delete(key);
    if (this.#namespaces !== undefined) remove(this.#namespaces, key, previous);
    for (const index of this.#indexes.values()) remove(index, key, previous);
    return previous;
  }
}

const NO_VALUES: readonly string[] = [];

function namespaceOf({ metadata }: Identified): readonly string[] {
  return metadata.namespace ? [metadata.namespace] : [];
}

function insert<T>({ valuesOf, buckets }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) addTo(buckets, value, key);
}

function remove<T>({ valuesOf, buckets }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) dropFrom(buckets, value, key);
}

function replace<T>({ valuesOf, buckets }: Index<T>, key: string, { previous, object }: { previous: T; object: T }): void {
  const values = valuesOf(object);
  const before = valuesOf(previous);
  for (const old of itemsNotIn(before, values)) dropFrom(buckets, old, key);
  for (const value of itemsNotIn(values, before)) addTo(buckets, value, key);
}

function addTo(buckets: Map<string, Set<string>>, value: string, key: string): void {
  const bucket = buckets.get(value);
  if (bucket === undefined) buckets.set(value, new Set([key]));
  else bucket.add(key);
}

function dropFrom(buckets: Map<string, Set<string>>, value: string, key: string): void {
  const bucket = buckets.get(value);
  if (bucket?.delete(key) && bucket.size === 0) buckets.delete(value);
}
