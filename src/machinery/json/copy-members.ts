import { isJsonArray, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from './json-value.ts';

interface Copy {
  readonly from: JsonObject | readonly JsonValue[];
  readonly to: MutableJsonObject | JsonValue[];
}

/** A deep copy with the members of objects that are to be kept. Items of lists stay, undefined ones as null. With its own stack, so of any depth. */
export function copyMembers(root: JsonValue, isKept: (member: JsonValue | undefined) => boolean): JsonValue {
  const pending: Copy[] = [];
  const copyOf = (value: JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    const copy = { from: value, to: isJsonArray(value) ? [] : {} };
    pending.push(copy);
    return copy.to;
  };
  const result = copyOf(root);
  for (let copy = pending.pop(); copy !== undefined; copy = pending.pop()) {
    const { from, to } = copy;
    if (isJsonArray(from)) for (const item of from) (to as JsonValue[]).push(copyOf(item ?? null));
    else for (const key of Object.keys(from)) if (isKept(from[key])) setKey(to as MutableJsonObject, key, copyOf(from[key] as JsonValue));
  }
  return result;
}
