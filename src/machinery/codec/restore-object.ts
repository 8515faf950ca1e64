import { isJsonArray, isJsonObject, type JsonValue } from '../json/json-value.ts';
import type { ObjectSchema, ScalarSchema, Schema } from '../schema.ts';
import { valueError } from './decode-object.ts';
import { goTypeName } from './go-type-name.ts';

/**
 * Why a document cannot be converted to an object of `schema`, in the words for documents that were never text: upstream converts the result of a
 * strategic merge patch by reflection, and its errors name kinds of values, not fields.
 */
export function restoreError(schema: ObjectSchema, value: JsonValue): string | undefined {
  return errorOf(schema, value);
}

const NAME: ScalarSchema = { type: 'string' };

/** Why a document has no valid apiVersion and kind: they may have any value, but must be strings. */
export function restoreNameError(value: JsonValue): string | undefined {
  return isJsonObject(value) ? firstError(['kind', 'apiVersion'], (key) => errorOf(NAME, value[key] ?? null)) : undefined;
}

function errorOf(schema: Schema, value: JsonValue): string | undefined {
  if (value === null) return undefined;
  switch (schema.type) {
    case 'object':
      return isJsonObject(value) ? membersError(schema, value) : `cannot restore struct from: ${kindOf(value)}`;
    case 'list':
      return isJsonArray(value) ? firstError(value, (item) => errorOf(schema.items, item)) : `cannot restore slice from ${kindOf(value)}`;
    case 'map':
      if (!isJsonObject(value)) return `cannot restore map from ${kindOf(value)}`;
      return firstError(Object.values(value), (member) => errorOf(schema.values, member));
    case 'any':
      return valueError(schema, value);
    default:
      return scalarError(schema, value);
  }
}

function membersError(schema: ObjectSchema, value: { readonly [key: string]: JsonValue }): string | undefined {
  return firstError(schema.fields, ({ name, schema: member }) => (Object.hasOwn(value, name) ? errorOf(member, value[name]!) : undefined));
}

function firstError<T>(items: readonly T[], error: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = error(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function scalarError(schema: ScalarSchema, value: JsonValue): string | undefined {
  switch (schema.type) {
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'double':
      return plainError(schema, value);
    case 'bytes':
      return bytesError(schema, value);
    default:
      return valueError(schema, value);
  }
}

const GO_KINDS = { string: 'string', bool: 'bool', int32: 'int32', int64: 'int64', double: 'float64' } as const;

/** Numbers convert to numbers unless a fraction would be lost; in Go an integer is also convertible to a string, which is rejected. */
function plainError(schema: ScalarSchema, value: JsonValue): string | undefined {
  const goKind = GO_KINDS[schema.type as keyof typeof GO_KINDS];
  const kind = kindOf(value);
  if (kind === goKind || (goKind !== 'string' && goKind !== 'bool' && kind === 'int64')) return undefined;
  const isLossy = kind === 'float64' && (goKind === 'int32' || goKind === 'int64');
  if (isLossy || (kind === 'int64' && goKind === 'string')) return `cannot convert ${kind} to ${goTypeName(schema)}`;
  return `unrecognized type: ${goKind}`;
}

function bytesError(schema: ScalarSchema, value: JsonValue): string | undefined {
  if (typeof value !== 'string') return `cannot restore slice from ${kindOf(value)}`;
  const error = valueError(schema, value);
  return error && `error decoding from json: ${error}`;
}

/** What Go calls the kind of a decoded JSON value. */
function kindOf(value: JsonValue): string {
  if (isJsonArray(value)) return 'slice';
  if (isJsonObject(value)) return 'map';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'int64' : 'string';
}
