import { meta } from '#api';
import { definitionRef, isJsonArray, isJsonObject, type JsonObject, type JsonValue, type OpenApiVersion, sameJson } from '#machinery';

/** The published schema of a custom resource. */
export function publishedSchema(version: OpenApiVersion, schema: JsonObject): JsonObject {
  return version === 2 ? withEmbedded(2, loosened(schema)) : withEmbedded(3, unfolded(schema));
}

type Change = (schema: JsonObject) => JsonObject;

/** Maps all nested schemas, except value validations. */
function mapNested(schema: JsonObject, change: Change): JsonObject {
  const out: Record<string, JsonValue> = { ...schema };
  const nested = (value: JsonValue): JsonValue => (isJsonObject(value) ? change(value) : value);
  const { properties, items, additionalProperties } = schema;
  if (isJsonObject(properties)) out.properties = Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, nested(value)]));
  if (items !== undefined) out.items = isJsonArray(items) ? items.map(nested) : nested(items);
  if (additionalProperties !== undefined) out.additionalProperties = nested(additionalProperties);
  return out;
}

const INT_OR_STRING: readonly JsonObject[] = [{ type: 'integer' }, { type: 'string' }];

/** Expands x-kubernetes-int-or-string to standard JSON schema. */
function unfolded(schema: JsonObject): JsonObject {
  const out = mapNested(schema, unfolded);
  if (schema['x-kubernetes-int-or-string'] !== true || declaresIntOrString(schema)) return out;
  if (schema.anyOf === undefined) return { ...out, anyOf: INT_OR_STRING };
  return { ...out, allOf: [{ anyOf: INT_OR_STRING }, ...(isJsonArray(schema.allOf) ? schema.allOf : [])] };
}

function declaresIntOrString({ anyOf, allOf }: JsonObject): boolean {
  const first = isJsonArray(allOf) && isJsonObject(allOf[0]) ? allOf[0].anyOf : undefined;
  return [anyOf, first].some((union) => union !== undefined && sameJson(union, INT_OR_STRING));
}

/** Keywords that v2 does not support. */
const NOT_IN_VERSION_2: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'not', 'nullable']);

/**
 * Converts a v3 schema to v2: looser, never stricter. Clients reject undeclared fields of typed schemas, so schemas that may
 * have more lose their type.
 */
function loosened(schema: JsonObject): JsonObject {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isShapeless = schema.nullable === true || isOpen;
  const isUntyped =
    schema.nullable === true ||
    (isOpen && schema.type === 'object') ||
    (schema.type === 'array' && (isShapeless || schema.items === undefined));
  const isDropped = (key: string) =>
    NOT_IN_VERSION_2.has(key) || (isShapeless && (key === 'properties' || key === 'items')) || (isUntyped && key === 'type');
  const required = stillRequired(schema);
  const members = Object.fromEntries(Object.entries(schema).filter(([key]) => !isDropped(key) && key !== 'required'));
  return mapNested({ ...members, ...(required.length > 0 && { required }) }, loosened);
}

/** Nullable fields cannot be required in v2. */
function stillRequired({ required, properties, additionalProperties }: JsonObject): readonly JsonValue[] {
  const isNullable = (schema: JsonValue | undefined) => isJsonObject(schema) && schema.nullable === true;
  if (!isJsonArray(required) || isNullable(additionalProperties)) return [];
  return isJsonObject(properties) ? required.filter((name) => !isNullable(properties[name as string])) : required;
}

/** Embedded resources have the metadata of all objects. */
function withEmbedded(version: OpenApiVersion, schema: JsonObject): JsonObject {
  const out = mapNested(schema, (nested) => withEmbedded(version, nested));
  const isOpen = version === 2 && schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-embedded-resource'] !== true || isOpen) return out;
  const properties = { ...(isJsonObject(out.properties) ? out.properties : {}), ...objectProperties(version) };
  const required = isJsonArray(out.required) ? out.required : [];
  return { ...out, properties, required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))] };
}

export const TYPE_META: JsonObject = {
  apiVersion: {
    type: 'string',
    description: 'APIVersion defines the group and version whose schema this object follows, as group/version.',
  },
  kind: { type: 'string', description: 'Kind is the type of this object, in CamelCase.' },
};

export function objectProperties(version: OpenApiVersion): JsonObject {
  return { ...TYPE_META, metadata: reference(version, meta.ObjectMeta.name, "Standard object's metadata.") };
}

export function reference(version: OpenApiVersion, name: string, description: string): JsonObject {
  const $ref = definitionRef(version, name);
  return version === 2 ? { $ref, description } : { allOf: [{ $ref }], description };
}
