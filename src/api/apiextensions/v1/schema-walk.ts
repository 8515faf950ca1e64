import type { JSONSchemaProps } from './custom-resource-definition-spec.ts';

/** Whether some node of a schema has a property. */
export function schemaHas(schema: JSONSchemaProps, predicate: (node: JSONSchemaProps) => boolean): boolean {
  return predicate(schema) || childrenOf(schema).some((child) => schemaHas(child, predicate));
}

/** A schema, where bad input may have a list of names or anything else. */
export function isSchema(value: unknown): value is JSONSchemaProps {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function childrenOf(schema: JSONSchemaProps): JSONSchemaProps[] {
  const { items, allOf = [], anyOf = [], oneOf = [], not, additionalProperties, additionalItems } = schema;
  const tables = [schema.properties, schema.patternProperties, schema.definitions].flatMap((table) => Object.values(table ?? {}));
  const dependencies = Object.values(schema.dependencies ?? {}).filter(isSchema);
  const single = [not, additionalProperties, additionalItems].filter((child): child is JSONSchemaProps => typeof child === 'object');
  const listed = items === undefined ? [] : ([items].flat() as JSONSchemaProps[]);
  return [...listed, ...allOf, ...anyOf, ...oneOf, ...single, ...tables, ...dependencies];
}
