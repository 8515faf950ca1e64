import { meta } from '#api';
import { definitionRef, isJsonObject, type JsonObject, type OpenApiVersion } from '#machinery';
import { definitionName, listDefinitionName, type OpenApiResource } from './openapi-resource.ts';
import { objectProperties, publishedSchema, reference, TYPE_META } from './structural-publication.ts';

/** The OpenAPI definitions of a custom resource and its list, from its CRD. */
export function customDefinitions(version: OpenApiVersion, resource: OpenApiResource): Readonly<Record<string, JsonObject>> {
  return {
    [definitionName(resource)]: { ...objectDefinition(version, resource), ...extensions(resource, resource.kind) },
    [listDefinitionName(resource)]: { ...listDefinition(version, resource), ...extensions(resource, resource.listKind) },
  };
}

function objectDefinition(version: OpenApiVersion, { openAPIV3Schema: schema }: OpenApiResource): JsonObject {
  // v2 clients reject undeclared fields once any is declared.
  if (schema === undefined || (version === 2 && schema['x-kubernetes-preserve-unknown-fields'] === true)) return { type: 'object' };
  const published = publishedSchema(version, schema);
  const properties = isJsonObject(published.properties) ? published.properties : {};
  return { ...published, properties: { ...properties, ...objectProperties(version) } };
}

function listDefinition(version: OpenApiVersion, resource: OpenApiResource): JsonObject {
  const items = { type: 'array', description: 'The objects.', items: { $ref: definitionRef(version, definitionName(resource)) } };
  const metadata = reference(version, meta.ListMeta.name, 'Metadata of the list: its resource version, and how to go on reading it.');
  return {
    description: `A list of ${resource.kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: { ...TYPE_META, items, metadata },
  };
}

function extensions({ group, version, strategy }: OpenApiResource, kind: string): JsonObject {
  const selectable = Object.keys(strategy?.selectableFields ?? {}).map((fieldPath) => ({ fieldPath }));
  return {
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
    ...(selectable.length > 0 && { 'x-kubernetes-selectable-fields': selectable }),
  };
}
