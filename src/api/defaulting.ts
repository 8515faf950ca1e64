/** Helpers for defaulting without mutating the input: each returns the same object if there is nothing to set, otherwise a shallow copy. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A shallow copy to which fields can be added. Not a spread: adding a field to V8's clone of a spread object creates a new hidden class each time,
 * which costs a microsecond.
 */
export function mutableCopy<T extends object>(object: T): Mutable<T> {
  return Object.assign({}, object);
}

/** Sets defaults of undefined fields. Explicit zeros are kept. */
export function fillUnset<T extends object>(object: T, values: Partial<T>): T {
  let filled: Mutable<T> | undefined;
  for (const key in values) {
    const current = object[key];
    if (current !== undefined && current !== null) continue;
    filled ??= mutableCopy(object);
    filled[key] = values[key] as T[typeof key];
  }
  return filled ?? object;
}

/** Sets defaults of fields whose zero value counts as unset. */
export function fillZero<T extends object>(object: T, values: Partial<T>): T {
  let filled: Mutable<T> | undefined;
  for (const key in values) {
    if (object[key]) continue;
    filled ??= mutableCopy(object);
    filled[key] = values[key] as T[typeof key];
  }
  return filled ?? object;
}

/** The object with one field replaced; the same object if it is unchanged. */
export function withField<T extends object, K extends keyof T>(object: T, key: K, value: T[K]): T {
  if (object[key] === value) return object;
  const changed = mutableCopy(object);
  changed[key] = value;
  return changed;
}

/** Applies a function to a field, if present. */
export function mapField<T extends object, K extends keyof T>(object: T, key: K, change: (value: NonNullable<T[K]>) => T[K]): T {
  const value = object[key];
  return value === undefined || value === null ? object : withField(object, key, change(value));
}

/** Applies a function to every item; the same list when no item changes. */
export function mapItems<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  let changed: T[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as T;
    const next = change(item);
    if (next === item) continue;
    changed ??= [...items];
    changed[i] = next;
  }
  return changed ?? items;
}

/** The object without some fields; the same object if it has none of them. */
export function withoutFields<T extends object, K extends keyof T>(object: T, ...keys: readonly K[]): T {
  if (keys.every((key) => object[key] === undefined)) return object;
  const rest = { ...object };
  for (const key of keys) delete rest[key];
  return rest;
}
