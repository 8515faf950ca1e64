import { meta } from '#api';
import { definitionRef, isJsonArray, isJsonObject, type JsonObject, type JsonValue, type OpenApiVersion } from '#machinery';
import { definitionName, listDefinitionName, type OpenApiResource } from './openapi-resource.ts';

/** The definitions of a custom resource and of its list, from the schema of its CustomResourceDefinition. */
export function customDefinitions(version: OpenApiVersion, resource: OpenApiResource): Readonly<Record<string, JsonObject>> {
  return {
    [definitionName(resource)]: objectDefinition(version, resource),
    [listDefinitionName(resource)]: listDefinition(version, resource),
  };
}

const TYPE_META: JsonObject = {
  apiVersion: { type: 'string', description: 'The group and version of the schema this object follows, as group/version.' },
  kind: { type: 'string', description: 'The kind of this object, in CamelCase.' },
};

function objectDefinition(version: OpenApiVersion, resource: OpenApiResource): JsonObject {
  const schema = resource.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const published = version === 2 ? forVersion2(schema) : schema;
  const properties = isJsonObject(published.properties) ? published.properties : {};
  const metadata = reference(version, meta.ObjectMeta.name, 'Standard object metadata.');
  return { ...published, type: 'object', properties: { ...properties, ...TYPE_META, metadata }, ...kindExtension(resource, resource.kind) };
}

function listDefinition(version: OpenApiVersion, resource: OpenApiResource): JsonObject {
  const items = { type: 'array', description: 'The objects.', items: { $ref: definitionRef(version, definitionName(resource)) } };
  const metadata = reference(version, meta.ListMeta.name, 'Metadata of the list: its resource version, and how to go on reading it.');
  return {
    description: `A list of ${resource.kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: { ...TYPE_META, items, metadata },
    ...kindExtension(resource, resource.listKind),
  };
}

function reference(version: OpenApiVersion, name: string, description: string): JsonObject {
  const $ref = definitionRef(version, name);
  return version === 2 ? { $ref, description } : { allOf: [{ $ref }], description };
}

function kindExtension({ group, version }: OpenApiResource, kind: string): JsonObject {
  return { 'x-kubernetes-group-version-kind': [{ group, kind, version }] };
}

/** What version 2 cannot say, or old clients would misread: they would then refuse objects that are valid. */
const NOT_IN_VERSION_2: ReadonlySet<string> = new Set([
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'nullable',
  'default',
  'x-kubernetes-validations',
  'x-kubernetes-embedded-resource',
]);
const SHAPE = ['type', 'properties', 'items', 'additionalProperties'];

/** A schema of version 3 as version 2 can express it: looser, never stricter. */
function forVersion2(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => !NOT_IN_VERSION_2.has(key) && !isDropped(schema, key));
  return Object.fromEntries(kept.map(([key, value]) => [key, member(key, value)]));
}

function isDropped(schema: JsonObject, key: string): boolean {
  if (schema.nullable === true) return SHAPE.includes(key);
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return key === 'properties' || key === 'items';
  return schema['x-kubernetes-int-or-string'] === true && key === 'type';
}

function member(key: string, value: JsonValue): JsonValue {
  if (key === 'properties' && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, nested(property)]));
  }
  return key === 'items' || key === 'additionalProperties' ? nested(value) : value;
}

function nested(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(nested);
  return isJsonObject(value) ? forVersion2(value) : value;
}
