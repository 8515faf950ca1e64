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

test('kubectl explain has something to say of every type and of every field', () => {
  expect(types.size).toBeGreaterThan(500);
  const silent = [...types.values()].flatMap(({ name, description, fields }) => [
    ...(description === '' ? [name] : []),
    ...fields.filter((field) => field.description === '').map((field) => `${name}.${field.name}`),
  ]);
  expect(silent).toEqual([]);
});
