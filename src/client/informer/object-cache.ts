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
  /** The keys of the objects under each value: an object that changes but stays where it is found leaves them alone. */
  readonly buckets: Map<string, Set<string>>;
}

/** The state of one kind, with its indexes. */
export class ObjectCache<T extends Identified> implements Lister<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  /** Made when somebody first asks for one namespace: many never do. */
  #namespaces: Index<T> | undefined;

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
    if (!namespace) return [...this.#objects.values()];
    this.#namespaces ??= this.#indexOf(namespaceOf);
    return this.#under(this.#namespaces, namespace);
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new TypeError(`there is no index "${name}"`);
    return this.#under(index, value);
  }

  #under({ buckets }: Index<T>, value: string): readonly T[] {
    const found: T[] = [];
    for (const key of buckets.get(value) ?? []) found.push(this.#objects.get(key)!);
    return found;
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
    this.#indexes.set(name, this.#indexOf(valuesOf));
  }

  #indexOf(valuesOf: IndexFunction<T>): Index<T> {
    const index: Index<T> = { valuesOf, buckets: new Map() };
    for (const [key, object] of this.#objects) insert(index, key, object);
    return index;
  }

  /** Returns what was there before. */
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
  for (const old of before) if (!values.includes(old)) dropFrom(buckets, old, key);
  for (const value of values) if (!before.includes(value)) addTo(buckets, value, key);
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
