import { expect, test } from 'vitest';
import type { ObjectSchema, Schema } from '#machinery';
import * as api from './index.ts';

const types = new Map<string, ObjectSchema>();

function collect(schema: Schema): void {
  if (schema.type === 'list') collect(schema.items);
  else if (schema.type === 'map') collect(schema.values);
  else if (schema.type === 'object' && !types.has(schema.name)) {
    types.set(schema.name, schema);
    for (const field of schema.fields) collect(field.schema);
  }
}

for (const group of Object.values(api)) {
  if (typeof group !== 'object' || Array.isArray(group)) continue;
  for (const value of Object.values(group)) {
    if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'object') collect(value as ObjectSchema);
  }
}

const JSON_SCHEMA = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
/** Upstream publishes these as plain references, without a description. */
const UNDESCRIBED = [
  ...['additionalItems', 'additionalProperties', 'example', 'externalDocs', 'items', 'not'].map((name) => `${JSON_SCHEMA}.${name}`),
  'io.k8s.api.networking.v1.IngressRule.http',
  'io.k8s.api.networking.v1.IngressRuleValue.http',
];

test('kubectl explain describes every type, and every field that upstream describes', () => {
  expect(types.size).toBeGreaterThan(500);
  const undescribed = [...types.values()].flatMap(({ name, description, fields }) => [
    ...(description === '' ? [name] : []),
    ...fields.filter((field) => field.description === '').map((field) => `${name}.${field.name}`),
  ]);
  expect(undescribed.sort()).toEqual(UNDESCRIBED.sort());
});
