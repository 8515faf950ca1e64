/** A table for looking up untrusted strings: without a prototype, so that it has no `constructor` or `__proto__`. */
export function lookupTable<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null) as Record<string, T>, entries));
}
