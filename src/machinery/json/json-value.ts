/** A decoded JSON value. An integer is a bigint only where a double cannot hold it exactly. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A JSON object under construction; immutable once returned. */
export interface MutableJsonObject {
  [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Sets an untrusted key. Assigning to `__proto__` would change the object's prototype, so that key is defined instead. */
export function setKey(target: MutableJsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** Reads an own key: inherited properties (`constructor`, `toString`) are not data. */
export function getKey(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A shallow copy that keeps a `__proto__` key as data. */
export function copyObject(source: JsonObject): MutableJsonObject {
  return { ...source };
}
