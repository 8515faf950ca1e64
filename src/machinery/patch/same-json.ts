import { type EqualBelow, equalByLevels } from '../json/equal-by-levels.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';

/** Exact equality of JSON values; unlike the API's equality, it tells empty from absent. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  return equalByLevels(sameLevel, a, b);
}

function sameLevel(a: JsonValue, b: JsonValue, isEqual: EqualBelow<JsonValue>): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i] ?? null));
  if (isJsonObject(a)) return isJsonObject(b) && sameMembers(a, b, isEqual);
  // An integer may be a number on one side and a bigint on the other.
  if (typeof a === 'bigint' && typeof b === 'number') return Number.isInteger(b) && a === BigInt(b);
  return typeof a === 'number' && typeof b === 'bigint' && sameLevel(b, a, isEqual);
}

function sameMembers(a: JsonObject, b: JsonObject, isEqual: EqualBelow<JsonValue>): boolean {
  let members = 0;
  for (const key in a) {
    members++;
    const value = a[key];
    if (!Object.hasOwn(b, key) || (value !== b[key] && !isEqual(value ?? null, b[key] ?? null))) return false;
  }
  for (const _ in b) members--;
  return members === 0;
}
