import { maxOf } from '#base';
import { escapeIdentifier, isReservedWord } from './escaping.ts';
import { MAX_REQUEST_SIZE } from './limits.ts';
import {
  BOOL,
  BYTES,
  type CelField,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
  type TypeTraits,
} from './types.ts';
import { goTypeName } from './values/containers.ts';
import { parseFormattedDate } from './values/formatted-strings.ts';
import { isInt64, toInt } from './values/integers.ts';
import { type CelValue, EvalFailure } from './values/value.ts';

/** The parts of a structural schema (OpenAPI v3 with the extensions of Kubernetes) that expressions depend on. */
export interface TypedSchema {
  readonly type?: string | undefined;
  readonly format?: string | undefined;
  readonly nullable?: boolean | undefined;
  readonly properties?: Readonly<Record<string, TypedSchema>> | undefined;
  readonly additionalProperties?: TypedSchema | boolean | undefined;
  readonly items?: TypedSchema | undefined;
  readonly required?: readonly string[] | undefined;
  readonly default?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly maxLength?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-list-type'?: string | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
}

// Sizes in JSON, quotes included.
const MAX_TIME_SIZE = 32;
const DATE_SIZE = 12;
const MIN_DATE_TIME_SIZE = 21;
const MAX_TEXT_SIZE = MAX_REQUEST_SIZE - 2;
// A character may take four bytes.
const BYTES_PER_CHARACTER = 4;

/**
 * The type of a schema's data in expressions; undefined for data that expressions cannot access. The root of a resource always has `apiVersion`,
 * `kind`, `metadata.name` and `metadata.generateName`.
 */
export function schemaType(
  schema: TypedSchema,
  options: { readonly name: string; readonly isResourceRoot?: boolean },
): CelType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString(schema);
  const seen = options.isResourceRoot === true ? withObjectMeta(schema) : schema;
  switch (seen.type) {
    case 'array':
      return arrayType(seen, options.name);
    case 'object':
      return isSchema(seen.additionalProperties)
        ? valuesType(seen, seen.additionalProperties, options.name)
        : propertiesType(seen, options.name);
    case 'string':
      return textType(seen);
    case 'boolean':
      return BOOL.with(nullability(seen));
    case 'number':
      return DOUBLE.with(nullability(seen));
    case 'integer':
      return INT.with(nullability(seen));
    default:
      return undefined;
  }
}

function isSchema(value: TypedSchema | boolean | undefined): value is TypedSchema {
  return typeof value === 'object';
}

function nullability(schema: TypedSchema): TypeTraits {
  return { nullable: schema.nullable === true };
}

function nested(schema: TypedSchema, name: string): CelType | undefined {
  return schemaType(schema, { name, isResourceRoot: schema['x-kubernetes-embedded-resource'] === true });
}

function intOrString(schema: TypedSchema): CelType {
  const convert = (raw: unknown): CelValue => {
    if (raw === null && schema.nullable === true) return null;
    if (raw === null) throw new EvalFailure('invalid data, got null for schema with nullable=false');
    if (typeof raw === 'string' || (typeof raw === 'number' && Number.isSafeInteger(raw))) return raw;
    if (typeof raw === 'bigint' && isInt64(raw)) return toInt(raw);
    throw new EvalFailure('invalid data, expected XIntOrString value to be either a string or integer');
  };
  return DYN.with({ convert, maxElements: schema.maxLength === undefined ? MAX_TEXT_SIZE : textLimit(schema.maxLength) });
}

function textLimit(maxLength: number): number {
  return Math.max(maxLength, 0) * BYTES_PER_CHARACTER;
}

function arrayType(schema: TypedSchema, name: string): CelType | undefined {
  const element = schema.items === undefined ? undefined : nested(schema.items, `${name}.@idx`);
  if (element === undefined) return undefined;
  const listKind = schema['x-kubernetes-list-type'];
  const unbounded = Math.floor((MAX_REQUEST_SIZE - 2) / (minSize(element) + 1));
  return listType(element, {
    ...nullability(schema),
    maxElements: schema.maxItems === undefined ? unbounded : Math.max(schema.maxItems, 0),
    listKind: listKind === 'set' || listKind === 'map' ? listKind : 'atomic',
    listMapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
  });
}

function minSize(type: CelType): number {
  return type.traits.minSerializedSize ?? 0;
}

function valuesType(schema: TypedSchema, values: TypedSchema, name: string): CelType | undefined {
  const value = nested(values, `${name}.@elem`);
  if (value === undefined) return undefined;
  // The least key with its quotes, a colon and a comma.
  const unbounded = Math.floor((MAX_REQUEST_SIZE - 2) / (minSize(value) + 6));
  const maxElements = schema.maxProperties === undefined ? unbounded : Math.max(schema.maxProperties, 0);
  return mapType(STRING, value, { ...nullability(schema), maxElements });
}

function propertiesType(schema: TypedSchema, name: string): CelType {
  const fields = new Map<string, CelField>();
  const required = new Set(schema.required ?? []);
  let size = 2;
  for (const [property, propertySchema] of Object.entries(schema.properties ?? {})) {
    const identifier = escapeIdentifier(property);
    const type = nested(propertySchema, `${name}.${identifier ?? property}`);
    if (type === undefined) continue;
    if (identifier !== undefined) fields.set(identifier, { type, property });
    // Fields with a default may be omitted.
    if (required.has(property) && propertySchema.default === undefined) size += Buffer.byteLength(property) + minSize(type) + 4;
  }
  // After a dot a reserved word needs no escape, except for keywords of the grammar.
  const find = (identifier: string): CelField | undefined =>
    fields.get(identifier) ?? (isReservedWord(identifier) ? fields.get(`__${identifier}__`) : undefined);
  return objectType(name, find, { ...nullability(schema), minSerializedSize: size });
}

function textType(schema: TypedSchema): CelType {
  const traits = nullability(schema);
  switch (schema.format) {
    case 'byte':
      return BYTES.with({ ...traits, maxElements: schema.maxLength === undefined ? MAX_TEXT_SIZE : Math.max(schema.maxLength, 0) });
    case 'duration':
      return DURATION.with({ ...traits, maxElements: MAX_TIME_SIZE });
    case 'date':
      return TIMESTAMP.with({ ...traits, maxElements: DATE_SIZE, minSerializedSize: DATE_SIZE, convert: dateConverter(schema) });
    case 'date-time':
      return TIMESTAMP.with({ ...traits, maxElements: MAX_TIME_SIZE, minSerializedSize: MIN_DATE_TIME_SIZE });
    default:
      return STRING.with({ ...traits, maxElements: plainTextLimit(schema) });
  }
}

function dateConverter(schema: TypedSchema): (raw: unknown) => CelValue {
  return (raw) => {
    if (raw === null && schema.nullable === true) return null;
    if (raw === null) throw new EvalFailure('invalid data, got null for schema with nullable=false');
    if (typeof raw !== 'string') throw new EvalFailure(`invalid data, expected string, got ${goTypeName(raw)}`);
    return parseFormattedDate(raw);
  };
}

function plainTextLimit(schema: TypedSchema): number {
  if (schema.maxLength !== undefined) return textLimit(schema.maxLength);
  if (schema.enum === undefined || schema.enum.length === 0) return MAX_TEXT_SIZE;
  return maxOf(
    schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)),
    0,
  );
}

const TEXT: TypedSchema = { type: 'string' };

function withObjectMeta(schema: TypedSchema): TypedSchema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const { name, generateName } = metadata?.properties ?? {};
  const isText = (property: TypedSchema | undefined): boolean => property?.type === 'string';
  if (isText(kind) && isText(apiVersion) && metadata?.type === 'object' && isText(name) && isText(generateName)) return schema;
  const meta: TypedSchema = { type: 'object', properties: { name: TEXT, generateName: TEXT } };
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: meta } };
}
