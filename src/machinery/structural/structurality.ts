import { pushAll } from '#base';
import { Regex } from '../cel/regexp/regex.ts';
import { FieldError } from '../errors/field-error.ts';
import type { Path } from '../errors/field-path.ts';
import { compareBytes } from '../values/go-format.ts';
import {
  isEmbeddedResource,
  isIntOrString,
  isSchemaList,
  itemsOf,
  type JsonSchema,
  preservesUnknown,
  propertiesOf,
  propertyOf,
} from './json-schema.ts';

type Level = 'root' | 'item' | 'field';

const TYPE_REQUIRED: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/**
 * Whether a schema is structural: every place that a value may have is described outside of allOf, anyOf, oneOf and not, with a type. Sorted by
 * text, as upstream lists them.
 */
export function structuralErrors(path: Path, schema: JsonSchema): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...junctorCompleteness(schema, schema, { schemaPath: path, junctor: path })];
  return errors.sort((a, b) => compareBytes(String(a), String(b)));
}

/** Keywords that no structural schema may have, with upstream's fallback message. */
export function unsupportedKeyword(schema: JsonSchema): string | undefined {
  const own = ownUnsupportedKeyword(schema);
  if (own !== undefined) return own;
  for (const child of childSchemas(schema)) {
    const keyword = unsupportedKeyword(child);
    if (keyword !== undefined) return keyword;
  }
  return undefined;
}

function ownUnsupportedKeyword(schema: JsonSchema): string | undefined {
  for (const keyword of ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'] as const) {
    if (isSet(schema[keyword])) return `OpenAPIV3Schema '${keyword === '$schema' ? 'schema' : keyword}' is not supported`;
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (schema.items !== undefined && isSchemaList(schema.items) && schema.items.length > 0) {
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  }
  return undefined;
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === '' || value === null) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function childSchemas(schema: JsonSchema): JsonSchema[] {
  const { not, allOf = [], anyOf = [], oneOf = [], additionalProperties } = schema;
  const items = itemsOf(schema);
  return [
    ...(not === undefined ? [] : [not]),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...(items === undefined ? [] : [items]),
    ...propertiesOf(schema).map(([, property]) => property),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
}

function invariants(schema: JsonSchema, level: Level, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  const items = itemsOf(schema);
  if (schema.type === 'array' && items === undefined) errors.push(FieldError.required(path.child('items'), 'must be specified'));
  if (items !== undefined) pushAll(errors, invariants(items, 'item', path.child('items')));
  for (const [name, property] of propertiesOf(schema)) {
    pushAll(errors, invariants(property, 'field', path.child('properties').key(name)));
  }
  pushAll(errors, additionalInvariants(schema, level, path), extensionInvariants(schema, path));
  pushAll(errors, junctorInvariants(schema, path, { anyOf: isIntOrStringUnion(schema.anyOf), firstAllOf: hasIntOrStringAllOf(schema) }));
  pushAll(errors, typeInvariants(schema, level, path), metaInvariants(schema, level, path));
  if (isEmbeddedResource(schema) && !preservesUnknown(schema) && propertiesOf(schema).length === 0) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(FieldError.required(path.child('properties'), detail));
  }
  return errors;
}

function additionalInvariants({ additionalProperties }: JsonSchema, level: Level, path: Path): FieldError[] {
  if (additionalProperties === undefined) return [];
  const childPath = path.child('additionalProperties');
  const errors = level === 'root' ? [FieldError.forbidden(childPath, 'must not be used at the root')] : [];
  return typeof additionalProperties === 'object' ? [...errors, ...invariants(additionalProperties, 'field', childPath)] : errors;
}

function extensionInvariants(schema: JsonSchema, path: Path): FieldError[] {
  if (!isIntOrString(schema)) return [];
  const detail = 'must be false if x-kubernetes-int-or-string is true';
  const errors: FieldError[] = [];
  if (preservesUnknown(schema)) errors.push(FieldError.invalid(path.child('x-kubernetes-preserve-unknown-fields'), true, detail));
  if (isEmbeddedResource(schema)) errors.push(FieldError.invalid(path.child('x-kubernetes-embedded-resource'), true, detail));
  return errors;
}

function typeInvariants(schema: JsonSchema, level: Level, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  const { type = '' } = schema;
  const childPath = path.child('type');
  if (isEmbeddedResource(schema) && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? FieldError.required(childPath, detail) : FieldError.invalid(childPath, type, detail));
  } else if (type === '' && !isIntOrString(schema) && !preservesUnknown(schema)) {
    errors.push(FieldError.required(childPath, TYPE_REQUIRED[level]));
  }
  if (isEmbeddedResource(schema) && schema.additionalProperties !== undefined) {
    errors.push(FieldError.forbidden(path.child('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(FieldError.invalid(childPath, type, 'must be object at the root'));
  return errors;
}

function metaInvariants(schema: JsonSchema, level: Level, path: Path): FieldError[] {
  const isResource = level === 'root' || isEmbeddedResource(schema);
  const errors: FieldError[] = [];
  const at = (name: string) => path.child('properties').key(name);
  for (const name of ['kind', 'apiVersion']) {
    const property = propertyOf(schema, name);
    if (isResource && property !== undefined && property.type !== 'string') {
      errors.push(FieldError.invalid(at(name).child('type'), property.type ?? '', 'must be string'));
    }
  }
  const metadata = propertyOf(schema, 'metadata');
  if (metadata === undefined) return errors;
  if (isResource && metadata.type !== 'object') {
    errors.push(FieldError.invalid(at('metadata').child('type'), metadata.type ?? '', 'must be object'));
  }
  if (level === 'root' && !restrictsNamesOnly(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(FieldError.forbidden(at('metadata'), detail));
  }
  return errors;
}

function restrictsNamesOnly(metadata: JsonSchema): boolean {
  const { type: _type, default: _default, properties = {}, ...rest } = metadata;
  const names = Object.keys(properties);
  return (
    names.every((name) => name === 'name' || name === 'generateName') &&
    !Object.values(rest).some((value) => isSet(value) && value !== false)
  );
}

// The only allowed union: that of an int-or-string.
function isIntOrStringUnion(anyOf: readonly JsonSchema[] | undefined): boolean {
  return JSON.stringify(anyOf) === '[{"type":"integer"},{"type":"string"}]';
}

function hasIntOrStringAllOf({ allOf }: JsonSchema): boolean {
  return isIntOrStringUnion(allOf?.[0]?.anyOf);
}

interface SkippedChecks {
  readonly anyOf: boolean;
  readonly firstAllOf: boolean;
}
const NOTHING_SKIPPED: SkippedChecks = { anyOf: false, firstAllOf: false };

function junctorInvariants(schema: JsonSchema, path: Path, skipped: SkippedChecks): FieldError[] {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern = '' } = schema;
  const errors: FieldError[] = [];
  if (!skipped.anyOf) for (const [i, clause] of anyOf.entries()) pushAll(errors, nestedInvariants(clause, path.child('anyOf').index(i)));
  for (const [i, clause] of allOf.entries()) {
    pushAll(errors, nestedInvariants(clause, path.child('allOf').index(i), { anyOf: skipped.firstAllOf && i === 0, firstAllOf: false }));
  }
  for (const [i, clause] of oneOf.entries()) pushAll(errors, nestedInvariants(clause, path.child('oneOf').index(i)));
  if (not !== undefined) pushAll(errors, nestedInvariants(not, path.child('not')));
  const broken = pattern === '' ? undefined : patternProblem(pattern);
  if (broken !== undefined) {
    errors.push(FieldError.invalid(path.child('pattern'), pattern, `must be a valid regular expression, but isn't: ${broken}`));
  }
  return errors;
}

function patternProblem(pattern: string): string | undefined {
  try {
    new Regex(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// allOf, anyOf, oneOf and not may only restrict values; their types are declared outside.
function nestedInvariants(schema: JsonSchema, path: Path, skipped: SkippedChecks = NOTHING_SKIPPED): FieldError[] {
  const errors = junctorInvariants(schema, path, skipped);
  const items = itemsOf(schema);
  if (items !== undefined) pushAll(errors, nestedInvariants(items, path.child('items')));
  for (const [name, property] of propertiesOf(schema)) pushAll(errors, nestedInvariants(property, path.child('properties').key(name)));
  for (const [keyword, detail] of NESTED_FORBIDDEN) {
    const value = schema[keyword];
    if (isSet(value) && value !== false) errors.push(FieldError.forbidden(path.child(keyword), `must be ${detail} to be structural`));
  }
  if (propertyOf(schema, 'metadata') !== undefined) {
    errors.push(FieldError.forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context'));
  }
  return errors;
}

const NESTED_FORBIDDEN: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

interface Places {
  /** The structural part. */
  readonly schemaPath: Path;
  /** The value validation part. */
  readonly junctor: Path;
}

// Restricted fields must be specified in the structural part.
function junctorCompleteness(schema: JsonSchema, described: JsonSchema | undefined, places: Places): FieldError[] {
  const { not, allOf = [], anyOf = [], oneOf = [] } = schema;
  const { schemaPath: here, junctor } = places;
  const errors: FieldError[] = [];
  if (not !== undefined) pushAll(errors, completeness(not, described, { schemaPath: here, junctor: junctor.child('not') }));
  for (const [keyword, clauses] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [i, clause] of clauses.entries()) {
      pushAll(errors, completeness(clause, described, { schemaPath: here, junctor: junctor.child(keyword).index(i) }));
    }
  }
  return errors;
}

function completeness(schema: JsonSchema, described: JsonSchema | undefined, places: Places): FieldError[] {
  const { schemaPath: here, junctor } = places;
  if (described === undefined) return [FieldError.required(here, `because it is defined in ${junctor}`)];
  const errors = junctorCompleteness(schema, described, places);
  const items = itemsOf(schema);
  if (items !== undefined) {
    pushAll(errors, completeness(items, itemsOf(described), { schemaPath: here.child('items'), junctor: junctor.child('items') }));
  }
  for (const [name, property] of propertiesOf(schema)) {
    const below = { schemaPath: here.child('properties').key(name), junctor: junctor.child('properties').key(name) };
    pushAll(errors, completeness(property, propertyOf(described, name), below));
  }
  return errors;
}
