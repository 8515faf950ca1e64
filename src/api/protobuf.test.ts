import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeObject,
  decodeProtobuf,
  encodeJson,
  encodeProtobuf,
  type Field,
  type JsonObject,
  type JsonValue,
  type ObjectSchema,
  ProtobufError,
  parseJson,
  type Schema,
} from '#machinery';
import * as api from './index.ts';
import { randomObject } from './random-object.test-data.ts';

/** Every object type that the definitions export, by its OpenAPI name. */
const SCHEMAS = new Map<string, ObjectSchema>();
for (const group of Object.values(api)) {
  if (typeof group !== 'object' || Array.isArray(group)) continue;
  for (const value of Object.values(group)) {
    if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'object')
      SCHEMAS.set(value.name, value as ObjectSchema);
  }
}
/** Told to people, never sent as protobuf. */
const JSON_ONLY = /meta\.v1\.Table|pkg\.version\.Info/;
const CARRIED = [...SCHEMAS.values()].filter(({ name }) => !JSON_ONLY.test(name));

function arbitraryObject(schema: ObjectSchema): fc.Arbitrary<JsonObject> {
  return fc.record({ seed: fc.integer(), size: fc.integer({ min: 1, max: 40 }) }).map((options) => randomObject(schema, options));
}

/** Without the fields that protobuf has no number for: apiVersion and kind, which the envelope carries. */
function carried(schema: Schema, value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (schema.type === 'list') return (value as JsonValue[]).map((item) => carried(schema.items, item));
  const object = value as JsonObject;
  if (schema.type === 'map') return mapEntries(object, (_, item) => carried(schema.values, item));
  if (schema.type !== 'object') return value;
  const numbered = Object.fromEntries(Object.entries(object).filter(([name]) => (schema.fieldsByName.get(name)?.number ?? 0) > 0));
  return mapEntries(numbered, (name, item) => carried((schema.fieldsByName.get(name) as Field).schema, item));
}

function mapEntries(object: JsonObject, change: (key: string, value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(key, value)]));
}

describe('an object of any type', () => {
  test.each(CARRIED.map((schema) => [schema.name, schema] as const))(
    '%s comes back from protobuf as it comes back from JSON',
    (_, schema) => {
      fc.assert(
        fc.property(arbitraryObject(schema), (object) => {
          const fromJson = decodeObject(schema, parseJson(encodeJson(object)).value);
          expect(decodeObject(schema, object).object).toBe(object);
          expect(fromJson).toEqual({ object, problems: [] });
          const fromProtobuf = decodeProtobuf(schema, encodeProtobuf(schema, object));
          expect(fromProtobuf).toEqual(carried(schema, object));
        }),
        { numRuns: 25 },
      );
    },
  );
});

describe('malformed protobuf', () => {
  test('is a clear error whatever bytes are changed, dropped or added', () => {
    const kinds = fc.constantFrom<api.Kind<unknown>[]>(...(api.KINDS as readonly api.Kind<unknown>[]), ...api.PRERELEASE_KINDS);
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom('set', 'cut', 'insert')), {
      minLength: 1,
    });
    fc.assert(
      fc.property(
        kinds.chain((kind) => arbitraryObject(kind).map((object) => ({ kind, bytes: encodeProtobuf(kind, object) }))),
        damage,
        ({ kind, bytes }, steps) => {
          let damaged = [...bytes];
          for (const [at, byte, change] of steps) {
            const index = at % (damaged.length + 1);
            if (change === 'set') damaged[index] = byte;
            else if (change === 'cut') damaged = damaged.slice(0, index);
            else damaged.splice(index, 0, byte);
          }
          try {
            decodeObject(kind, decodeProtobuf(kind, Uint8Array.from(damaged)));
          } catch (error) {
            expect(error).toBeInstanceOf(ProtobufError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
