import { compareBytes, isJsonObject } from '#machinery';

/** The JSON value with the keys of every object in the order of their bytes, as Go's encoder writes maps. Undefined members are left out. */
export function sortedKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sortedKeys) as T;
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => compareBytes(a, b)).map(([key, member]) => [key, sortedKeys(member)])) as T;
}
