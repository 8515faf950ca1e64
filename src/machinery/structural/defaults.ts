import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { additionalOf, defaultOf, itemsOf, type JsonSchema, propertiesOf, propertyOf } from './json-schema.ts';

/** Fills in the defaults of a schema, also for nulls where null is not allowed. Returns the same value when there is nothing to fill in. */
export function applyDefaults<T extends JsonValue>(schema: JsonSchema | undefined, value: T): T {
  return defaulted(schema, value) as T;
}

function defaulted(schema: JsonSchema | undefined, value: JsonValue): JsonValue {
  if (schema === undefined) return value;
  if (isJsonArray(value)) return defaultItems(itemsOf(schema), value);
  return isJsonObject(value) ? defaultMembers(schema, value) : value;
}

function defaultItems(items: JsonSchema | undefined, value: readonly JsonValue[]): JsonValue {
  if (items === undefined) return value;
  const result = value.map((item) => defaulted(items, replaceNull(items, item)));
  return result.every((item, i) => item === value[i]) ? value : result;
}

function replaceNull(schema: JsonSchema, value: JsonValue): JsonValue {
  if (value !== null || schema.nullable === true) return value;
  return defaultOf(schema) ?? null;
}

function defaultMembers(schema: JsonSchema, object: JsonObject): JsonObject {
  const additional = additionalOf(schema);
  const added: MutableJsonObject = {};
  for (const name of Object.keys(object)) {
    const member = object[name] as JsonValue;
    const declared = propertyOf(schema, name) ?? additional;
    if (declared === undefined) continue;
    const result = defaulted(declared, replaceNull(declared, member));
    if (result !== member) setKey(added, name, result);
  }
  for (const [name, property] of propertiesOf(schema)) {
    const value = defaultOf(property);
    if (value !== undefined && !Object.hasOwn(object, name)) setKey(added, name, defaulted(property, value));
  }
  return Object.keys(added).length === 0 ? object : { ...object, ...added };
}
