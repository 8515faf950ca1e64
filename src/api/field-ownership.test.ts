import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeJson, encodeManagedFields, type JsonObject, type JsonValue, type ObjectSchema, updateManagedFields } from '#machinery';
import * as api from './index.ts';
import { randomObject } from './random-object.test-data.ts';

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
      const schema = api.KINDS.find((candidate) => candidate.kind === kind) as unknown as ObjectSchema;
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

describe('who writes the same fields again', () => {
  const write = (
    live: JsonObject,
    updated: JsonObject,
    { manager, now, subresource = '' }: { manager: string; now: string; subresource?: string },
  ) => {
    const resetFields = subresource === '' ? RESET : [['spec']];
    return updateManagedFields({
      schema: api.core.Pod as unknown as ObjectSchema,
      apiVersion: 'v1',
      live,
      updated,
      manager,
      now,
      subresource,
      resetFields,
    });
  };

  /** Other values in some places; keys of lists among them, whose items are then others. */
  const tweaked = (value: JsonValue, chance: () => boolean): JsonValue => {
    if (typeof value === 'string' || typeof value === 'number')
      return chance() ? (typeof value === 'number' ? value + 1 : `${value}x`) : value;
    if (Array.isArray(value)) return value.map((item) => tweaked(item, chance));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value as JsonObject).map(([key, member]) => [key, tweaked(member, chance)]));
  };

  test('owns what the general rules say, whichever way that is found', () => {
    const schema = api.core.Pod as unknown as ObjectSchema;
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 25 }),
        fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
        (seed, size, choices) => {
          const { metadata: _, ...rest } = randomObject(schema, { seed, size }) as { metadata?: JsonObject };
          const first = { ...rest, metadata: { name: 'a', uid: 'u' } } as unknown as JsonObject;
          const object = {
            ...first,
            metadata: { ...(first.metadata as JsonObject), managedFields: created(schema, first) ?? [] },
          } as unknown as JsonObject;
          const live = write(
            object,
            { ...object, status: { phase: 'Running' } },
            { manager: 'kubelet', now: '2026-01-01T00:00:01Z', subresource: 'status' },
          );
          let choice = 0;
          const { metadata, ...content } = live as { metadata: JsonObject };
          const changed = tweaked(
            content as unknown as JsonObject,
            () => choices[choice++ % 40] === true && choice % 7 === 0,
          ) as JsonObject;
          for (const [manager, subresource] of [
            ['m', ''],
            ['kubelet', 'status'],
            ['other', ''],
          ] as const) {
            const by = { manager, subresource, now: '2026-01-01T00:00:09Z' };
            const shared = write(live, { ...changed, metadata } as unknown as JsonObject, by);
            const apart = write(live, { ...changed, metadata: structuredClone(metadata) } as unknown as JsonObject, by);
            expect(shared).toEqual(apart);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
