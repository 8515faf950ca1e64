import { pushAll } from '#base';
import { FieldError } from '../errors/field-error.ts';
import type { Path } from '../errors/field-path.ts';
import { encodeSortedJson } from '../json/encode-deep-json.ts';
import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { itemsOf, type JsonSchema, memberOf, propertyOf } from './json-schema.ts';

/** Set lists must have unique values, map lists unique keys. */
export function listTypeErrors(path: Path, schema: JsonSchema, value: JsonValue): FieldError[] {
  if (isJsonArray(value)) return itemErrors(path, schema, value);
  return isJsonObject(value) ? memberErrors(path, schema, value) : [];
}

function memberErrors(path: Path, schema: JsonSchema, object: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of Object.keys(object)) {
    const declared = memberOf(schema, name);
    if (declared === undefined) continue;
    const childPath = propertyOf(schema, name) === undefined ? path.key(name) : path.child(name);
    pushAll(errors, listTypeErrors(childPath, declared, object[name] as JsonValue));
  }
  return errors;
}

function itemErrors(path: Path, schema: JsonSchema, list: readonly JsonValue[]): FieldError[] {
  const errors: FieldError[] = [];
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set') for (const i of repeatedItems(list)) errors.push(FieldError.duplicate(path.index(i), list[i]));
  if (listType === 'map') pushAll(errors, keyErrors(path, schema, list));
  const items = itemsOf(schema);
  if (items !== undefined) for (const [i, item] of list.entries()) pushAll(errors, listTypeErrors(path.index(i), items, item));
  return errors;
}

function keyErrors(path: Path, schema: JsonSchema, list: readonly JsonValue[]): FieldError[] {
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong >= 0) return [FieldError.invalid(path.index(wrong), list[wrong], 'must be an object for an array of list-type map')];
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  const keys = list.map((item) => keysOf(names, item));
  return repeatedItems(keys).map((i) => FieldError.duplicate(path.index(i), keys[i]));
}

function keysOf(names: readonly string[], item: JsonValue): JsonObject {
  if (!isJsonObject(item)) return {};
  const entries = names.flatMap((name) => {
    const value = getKey(item, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** The second occurrence of each repeated value; further ones are not reported. */
export function repeatedItems(values: readonly JsonValue[]): number[] {
  const times = new Map<string, number>();
  const indexes: number[] = [];
  for (const [i, value] of values.entries()) {
    const text = encodeSortedJson(value);
    const seen = times.get(text) ?? 0;
    times.set(text, seen + 1);
    if (seen === 1) indexes.push(i);
  }
  return indexes;
}
