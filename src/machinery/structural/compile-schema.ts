import type { AnySchema, Field, ObjectSchema, Schema } from '../schema.ts';
import {
  additionalOf,
  defaultOf,
  isEmbeddedResource,
  isIntOrString,
  itemsOf,
  type JsonSchema,
  META_FIELDS,
  preservesUnknown,
  propertiesOf,
} from './json-schema.ts';

/** Compiles the schema of a custom resource to the model of built-in types, so that both take the same path. */
export function compileResource(schema: JsonSchema, objectMeta: ObjectSchema): ObjectSchema {
  return compileObject(schema, { objectMeta, isResource: true });
}

interface Context {
  readonly objectMeta: ObjectSchema;
  readonly isResource: boolean;
}

const TEXT: Schema = { type: 'string' };
// Any scalar: validation checks the format.
const ANY_SCALAR: Schema = { type: 'intOrString' };
const ANYTHING: AnySchema = { type: 'any', name: '', objectOnly: false, proto: 'raw' };

function compile(schema: JsonSchema, objectMeta: ObjectSchema): Schema {
  if (isIntOrString(schema)) return ANYTHING;
  switch (schema.type) {
    case 'object':
      return compileMap(schema, objectMeta);
    case 'array':
      return compileList(schema, objectMeta);
    case 'string':
      return !schema.format || schema.format === 'byte' ? TEXT : ANY_SCALAR;
    case 'integer':
      return { type: 'int64' };
    case 'number':
      return { type: 'double' };
    case 'boolean':
      return { type: 'bool' };
    default:
      return ANYTHING;
  }
}

function compileMap(schema: JsonSchema, objectMeta: ObjectSchema): Schema {
  const hasProperties = propertiesOf(schema).length > 0;
  if (schema.additionalProperties === undefined || schema.additionalProperties === false || hasProperties) {
    return compileObject(schema, { objectMeta, isResource: isEmbeddedResource(schema) });
  }
  const values = additionalOf(schema);
  return { type: 'map', values: values === undefined ? ANYTHING : compile(values, objectMeta), atomic: isAtomicMap(schema) };
}

function isAtomicMap(schema: JsonSchema): boolean {
  return schema['x-kubernetes-map-type'] === 'atomic';
}

function compileList(schema: JsonSchema, objectMeta: ObjectSchema): Schema {
  const items = itemsOf(schema);
  const declared = schema['x-kubernetes-list-type'];
  const listType = declared === 'set' || declared === 'map' ? declared : 'atomic';
  const keys = listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  return { type: 'list', items: items === undefined ? ANYTHING : compile(items, objectMeta), listType, keys };
}

function compileObject(schema: JsonSchema, { objectMeta, isResource }: Context): ObjectSchema {
  const declared = propertiesOf(schema).filter(([name]) => !isResource || !META_FIELDS.has(name));
  const own = declared.map(([name, property]) =>
    compileField(name, property, { schema: compile(property, objectMeta), required: schema.required }),
  );
  const fields = isResource ? [...metaFields(objectMeta), ...own] : own;
  return {
    type: 'object',
    name: '',
    description: schema.description ?? '',
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    atomic: isAtomicMap(schema),
    preserveUnknown: preservesUnknown(schema) || schema.additionalProperties === true,
  };
}

function compileField(
  name: string,
  property: JsonSchema,
  { schema, required = [] }: { schema: Schema; required: readonly string[] | undefined },
): Field {
  const value = defaultOf(property);
  return {
    name,
    schema,
    description: property.description ?? '',
    presence: 'set',
    required: required.includes(name),
    patchStrategies: [],
    number: 0,
    ...(value !== undefined && { default: value }),
  };
}

function metaFields(objectMeta: ObjectSchema): Field[] {
  const field = (name: string, schema: Schema): Field => ({
    name,
    schema,
    description: '',
    presence: 'set',
    required: false,
    patchStrategies: [],
    number: 0,
  });
  return [field('kind', TEXT), field('apiVersion', TEXT), field('metadata', objectMeta)];
}
