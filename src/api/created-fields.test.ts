import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeJson, encodeManagedFields, type JsonObject, type ObjectSchema, updateManagedFields } from '#machinery';
import * as api from './index.ts';
import { randomObject } from './random-object.ts';

const RESET = [['status']];

function created(schema: ObjectSchema, object: JsonObject) {
  const result = updateManagedFields({
    schema,
    apiVersion: 'v1',
    live: undefined,
    updated: object,
    manager: 'm',
    now: '2026-01-01T00:00:00Z',
    resetFields: RESET,
  });
  return (result as { metadata?: { managedFields?: [] } }).metadata?.managedFields;
}

/** The same definition, of which nothing has been seen yet. */
const unseen = (schema: ObjectSchema): ObjectSchema => Object.assign(Object.create(Object.getPrototypeOf(schema)), schema) as ObjectSchema;

describe('who creates an object', () => {
  test.each([['Pod'], ['Service'], ['Deployment'], ['ConfigMap'], ['ValidatingAdmissionPolicy']])(
    'owns of a %s what it would if it were the first, whatever was created before',
    (kind) => {
      const schema = api.KINDS.find((known) => known.kind === kind) as unknown as ObjectSchema;
      fc.assert(
        fc.property(fc.integer(), fc.integer({ min: 1, max: 60 }), (seed, size) => {
          const object = randomObject(schema, { seed, size });
          const { metadata, ...rest } = object as { metadata?: JsonObject };
          const { managedFields: _, ...own } = (metadata ?? {}) as { managedFields?: unknown };
          const plain = { ...rest, metadata: own } as unknown as JsonObject;
          const entries = created(schema, plain);
          expect(entries).toEqual(created(unseen(schema), plain));
          if (entries !== undefined) expect(JSON.parse(encodeManagedFields(entries))).toEqual(JSON.parse(encodeJson(entries)));
        }),
        { numRuns: 200 },
      );
    },
  );

  test('shares the record of it with objects of the same template', () => {
    const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: name }] } }) as unknown as JsonObject;
    const schema = api.core.Pod as unknown as ObjectSchema;
    const [first] = created(schema, pod('a')) as unknown as [{ fieldsV1: object }];
    const [second] = created(schema, pod('b')) as unknown as [{ fieldsV1: object }];
    expect(first.fieldsV1).toBe(second.fieldsV1);
  });
});
