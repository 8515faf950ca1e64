import type { JsonValue } from '../json/json-value.ts';

/** A node of a CRD's `openAPIV3Schema`, as the API spells it. */
export interface JsonSchema {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly dependencies?: Readonly<Record<string, JsonSchema | readonly string[]>>;
  readonly additionalItems?: JsonSchema | boolean;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** A CEL rule on a node. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export function propertyOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties } = schema;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export function propertiesOf(schema: JsonSchema): [string, JsonSchema][] {
  return schema.properties === undefined ? [] : Object.entries(schema.properties);
}

/** The schema of all items; an array of schemas is not structural and counts as none. */
export function itemsOf(schema: JsonSchema): JsonSchema | undefined {
  return schema.items === undefined || isSchemaList(schema.items) ? undefined : schema.items;
}

export function isSchemaList(items: JsonSchema | readonly JsonSchema[]): items is readonly JsonSchema[] {
  return Array.isArray(items);
}

/** The schema of keys that are not declared; undefined also where they are allowed or forbidden without one. */
export function additionalOf(schema: JsonSchema): JsonSchema | undefined {
  const { additionalProperties } = schema;
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The schema of a key, declared or not. */
export function memberOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  return propertyOf(schema, name) ?? additionalOf(schema);
}

export function preservesUnknown(schema: JsonSchema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}

export function isEmbeddedResource(schema: JsonSchema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

export function isIntOrString(schema: JsonSchema): boolean {
  return schema['x-kubernetes-int-or-string'] === true;
}

/** A default of null is no default. */
export function defaultOf(schema: JsonSchema): JsonValue | undefined {
  return (schema.default ?? undefined) as JsonValue | undefined;
}

/** The schema of a resource itself: its metadata need not be declared. */
export function asResource(schema: JsonSchema): JsonSchema {
  return isEmbeddedResource(schema) ? schema : { ...schema, 'x-kubernetes-embedded-resource': true };
}

export const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);
