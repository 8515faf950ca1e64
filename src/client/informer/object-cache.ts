import type { Identified, ObjectKey } from '../kube-object.ts';
import { keyOf, keyText } from '../kube-object.ts';

/** Under which values an index finds an object. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Reads what a client has seen of a kind. Objects are shared: nobody changes them. */
export interface Lister<T> {
  get(key: ObjectKey): T | undefined;
  /** All of them, or those of one namespace. In no particular order. */
  list(namespace?: string): readonly T[];
  /** The objects that the named index finds under `value`. Throws when there is no such index. */
  byIndex(name: string, value: string): readonly T[];
  readonly size: number;
}

interface Index<T> {
  readonly valuesOf: IndexFunction<T>;
  readonly buckets: Map<string, Map<string, T>>;
}

/** The state of one kind, with its indexes. */
export class ObjectCache<T extends Identified> implements Lister<T> {
  readonly #objects = new Map<string, T>();
  readonly #namespaces = new Map<string, Map<string, T>>();
  readonly #indexes = new Map<string, Index<T>>();

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
    const found = namespace ? this.#namespaces.get(namespace) : this.#objects;
    return found === undefined ? [] : [...found.values()];
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new TypeError(`there is no index "${name}"`);
    const bucket = index.buckets.get(value);
    return bucket === undefined ? [] : [...bucket.values()];
  }

  /** The values under which an index finds anything. */
  indexValues(name: string): Iterable<string> {
    return this.#indexes.get(name)?.buckets.keys() ?? [];
  }

  /** Adding the same index again changes nothing; another one under its name is refused. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const known = this.#indexes.get(name);
    if (known?.valuesOf === valuesOf) return;
    if (known !== undefined) throw new TypeError(`index "${name}" is defined already, in another way`);
    const index: Index<T> = { valuesOf, buckets: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) insert(index, key, object);
  }

  /** Returns what was there before. */
  set(object: T): T | undefined {
    const key = keyOf(object);
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#setInNamespace(key, object);
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
    dropFrom(this.#namespaces, previous.metadata.namespace ?? '', key);
    for (const index of this.#indexes.values()) remove(index, key, previous);
    return previous;
  }

  #setInNamespace(key: string, object: T): void {
    const { namespace } = object.metadata;
    if (namespace) addTo(this.#namespaces, namespace, { key, object });
  }
}

function insert<T>({ valuesOf, buckets }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) addTo(buckets, value, { key, object });
}

function remove<T>({ valuesOf, buckets }: Index<T>, key: string, object: T): void {
  for (const value of valuesOf(object)) dropFrom(buckets, value, key);
}

/** Most changes leave an object where it is found. */
function replace<T>({ valuesOf, buckets }: Index<T>, key: string, { previous, object }: { previous: T; object: T }): void {
  const values = valuesOf(object);
  for (const old of valuesOf(previous)) if (!values.includes(old)) dropFrom(buckets, old, key);
  for (const value of values) addTo(buckets, value, { key, object });
}

function addTo<T>(buckets: Map<string, Map<string, T>>, value: string, { key, object }: { key: string; object: T }): void {
  const bucket = buckets.get(value);
  if (bucket === undefined) buckets.set(value, new Map([[key, object]]));
  else bucket.set(key, object);
}

function dropFrom<T>(buckets: Map<string, Map<string, T>>, value: string, key: string): void {
  const bucket = buckets.get(value);
  if (bucket?.delete(key) && bucket.size === 0) buckets.delete(value);
}
