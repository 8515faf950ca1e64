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

/** Longer lists are worth an index. */
const FEW = 16;

interface Named {
  readonly name?: string | undefined;
}

const indexes = new WeakMap<readonly Named[], ReadonlyMap<string | undefined, readonly Named[]>>();

/**
 * The items with a name, in order. Indexes a long list once, which must not change afterwards: looking up each item of one list in another
 * must not take time in proportion to their product.
 */
export function itemsNamed<T extends Named>(list: readonly T[], name: string): readonly T[] {
  if (list.length <= FEW) return list.filter((item) => item.name === name);
  let index = indexes.get(list) as ReadonlyMap<string | undefined, readonly T[]> | undefined;
  if (index === undefined) {
    index = groupBy(list, (item) => item.name);
    indexes.set(list, index);
  }
  return index.get(name) ?? [];
}

/** The first item of a name: as `itemsNamed`. */
export function itemNamed<T extends Named>(list: readonly T[], name: string): T | undefined {
  return list.length <= FEW ? list.find((item) => item.name === name) : itemsNamed(list, name)[0];
}

function groupBy<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The items of a list that are not in another. */
export function itemsNotIn<T>(list: readonly T[], others: readonly T[]): readonly T[] {
  if (others.length <= FEW) return list.filter((item) => !others.includes(item));
  const set = new Set(others);
  return list.filter((item) => !set.has(item));
}

/** One object with the members of all: later ones win. */
export function mergeAll<T extends object>(objects: Iterable<T | undefined>): T {
  const merged = {} as T;
  for (const object of objects) Object.assign(merged, object);
  return merged;
}
