/** A table to look strings from outside up in: without a prototype, so that `constructor` and `__proto__` are not in it. */
export function lookupTable<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null) as Record<string, T>, entries));
}
