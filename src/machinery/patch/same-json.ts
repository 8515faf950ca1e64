import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';

/** Exact equality of JSON values; unlike the API's equality, it tells empty from absent. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i] ?? null));
  if (isJsonObject(a)) return isJsonObject(b) && sameMembers(a, b);
  // An integer may be a number on one side and a bigint on the other.
  if (typeof a === 'bigint' && typeof b === 'number') return Number.isInteger(b) && a === BigInt(b);
  return typeof a === 'number' && typeof b === 'bigint' && sameJson(b, a);
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] ?? null, b[key] ?? null));
}
