import { type EqualBelow, equalByLevels } from '../json/equal-by-levels.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { Field, ObjectSchema, ScalarSchema, Schema } from '../schema.ts';
import { Quantity, QuantityError } from '../values/quantity.ts';
import { parseInstant } from '../values/time.ts';

type Maybe = JsonValue | undefined;

/** Equality of plain values: absent, null and empty lists and maps are one and the same; otherwise deep. */
export function deepEqual(a: Maybe, b: Maybe): boolean {
  return equalByLevels(compareLevel, a, b);
}

function compareLevel(a: Maybe, b: Maybe, equal: EqualBelow<Maybe>): boolean {
  if (a === b) return true;
  if (isEmptyCollection(a) && isEmptyCollection(b)) return true;
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (isJsonObject(a)) return isJsonObject(b) && equalMembers(a, b, equal);
  return sameNumber(a, b);
}

/**
 * Equality as the API means it: besides empty collections, quantities are equal by value, times by instant, and a field that is left out when
 * zero equals one that is zero.
 */
export function semanticEqual(a: Maybe, b: Maybe, schema?: Schema): boolean {
  if (a === b) return true;
  if (schema === undefined) return deepEqual(a, b);
  switch (schema.type) {
    case 'object':
      return equalObjects(a, b, schema);
    case 'list':
      return equalLists(a, b, schema.items);
    case 'map':
      return equalMaps(a, b, schema.values);
    case 'any':
      return deepEqual(a, b);
    default:
      return equalScalars(a, b, schema);
  }
}

function equalObjects(a: Maybe, b: Maybe, schema: ObjectSchema): boolean {
  if (!isJsonObject(a) || !isJsonObject(b)) return isAbsent(a) && isAbsent(b);
  return equalMembers(a, b, (x, y, key) => equalFields(x, y, schema.fieldsByName.get(key)));
}

function equalFields(a: Maybe, b: Maybe, field: Field | undefined): boolean {
  if (field === undefined) return deepEqual(a, b);
  if (semanticEqual(a, b, field.schema)) return true;
  return (field.presence === 'nonzero' || field.presence === 'always') && isZero(a, field.schema) && isZero(b, field.schema);
}

function equalLists(a: Maybe, b: Maybe, items: Schema): boolean {
  const left = isAbsent(a) ? [] : a;
  const right = isAbsent(b) ? [] : b;
  if (!isJsonArray(left) || !isJsonArray(right)) return false;
  return left.length === right.length && left.every((item, i) => semanticEqual(item, right[i], items));
}

function equalMaps(a: Maybe, b: Maybe, values: Schema): boolean {
  const left = isAbsent(a) ? {} : a;
  const right = isAbsent(b) ? {} : b;
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  return Object.keys(left).length === Object.keys(right).length && equalMembers(left, right, (x, y) => semanticEqual(x, y, values));
}

function equalScalars(a: Maybe, b: Maybe, { type }: ScalarSchema): boolean {
  if (isAbsent(a) || isAbsent(b)) return isAbsent(a) && isAbsent(b);
  if (type === 'quantity') return equalQuantities(a, b);
  if (type === 'time' || type === 'microTime') return equalTimes(a, b);
  return sameNumber(a, b);
}

function equalQuantities(a: JsonValue, b: JsonValue): boolean {
  try {
    return Quantity.fromJson(a as string).equals(Quantity.fromJson(b as string));
  } catch (error) {
    // An invalid quantity equals only itself.
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

function equalTimes(a: JsonValue, b: JsonValue): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  try {
    const [left, right] = [parseInstant(a), parseInstant(b)];
    return left.seconds === right.seconds && left.nanos === right.nanos;
  } catch {
    return false;
  }
}

function equalMembers(a: JsonObject, b: JsonObject, equal: (x: Maybe, y: Maybe, key: string) => boolean): boolean {
  for (const key of Object.keys(a)) {
    if (!equal(a[key], Object.hasOwn(b, key) ? b[key] : undefined, key)) return false;
  }
  for (const key of Object.keys(b)) {
    if (!Object.hasOwn(a, key) && !equal(undefined, b[key], key)) return false;
  }
  return true;
}

function isAbsent(value: Maybe): value is null | undefined {
  return value === undefined || value === null;
}

function isEmptyCollection(value: Maybe): boolean {
  if (isAbsent(value)) return true;
  if (isJsonArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function isZero(value: Maybe, schema: Schema): boolean {
  if (isEmptyCollection(value) || value === '' || value === 0 || value === false) return true;
  return (
    schema.type === 'object' && isJsonObject(value) && Object.entries(value).every(([key, member]) => isZeroMember(key, member, schema))
  );
}

function isZeroMember(key: string, value: JsonValue, schema: ObjectSchema): boolean {
  const field = schema.fieldsByName.get(key);
  return field !== undefined && (field.presence === 'nonzero' || field.presence === 'always') && isZero(value, field.schema);
}

// The same integer may be a number on one side and a bigint on the other.
function sameNumber(a: Maybe, b: Maybe): boolean {
  const numeric = (value: Maybe) => typeof value === 'number' || typeof value === 'bigint';
  // biome-ignore lint/suspicious/noDoubleEquals: compares number and bigint by value
  return numeric(a) && numeric(b) && a == b;
}
