/** Appends all items. `target.push(...items)` throws a RangeError from about 120,000 items on, when the arguments exceed the stack. */
export function pushAll<T>(target: T[], ...lists: readonly Iterable<T>[]): void {
  for (const list of lists) for (const item of list) target.push(item);
}

/** The largest value of a list of any length, at least `floor`; NaN if one is. */
export function maxOf(values: Iterable<number>, floor = -Infinity): number {
  let max = floor;
  for (const value of values) max = Math.max(max, value);
  return max;
}

/** The smallest value of a list of any length, at most `ceiling`; NaN if one is. */
export function minOf(values: Iterable<number>, ceiling = Infinity): number {
  let min = ceiling;
  for (const value of values) min = Math.min(min, value);
  return min;
}

/** One object with the members of all: later ones win. */
export function mergeAll<T extends object>(objects: Iterable<T | undefined>): T {
  const merged = {} as T;
  for (const object of objects) Object.assign(merged, object);
  return merged;
}
