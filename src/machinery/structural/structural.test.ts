import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { valuesEqual } from '../apply/typed-value.ts';
import { Path } from '../errors/field-path.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { compileResource } from './compile-schema.ts';
import { defaultErrors } from './default-errors.ts';
import { applyDefaults } from './defaults.ts';
import type { JsonSchema } from './json-schema.ts';
import { listTypeErrors } from './list-types.ts';
import { pruneNulls, pruneUnknownFields, withPrunedDefaults } from './prune.ts';
import { followSchemaPath, SchemaPathError } from './schema-path.ts';
import { structuralErrors, unsupportedKeyword } from './structurality.ts';
import { ValueValidator } from './value-validator.ts';

const text: JsonSchema = { type: 'string' };
const spec = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { spec: schema } });
const METADATA = {
  schema: {
    type: 'object',
    name: 'ObjectMeta',
    description: '',
    fields: [],
    fieldsByName: new Map(),
    atomic: false,
    preserveUnknown: true,
  },
  validate: () => [],
} as const;

describe('a schema is structural', () => {
  it.each<[string, JsonSchema]>([
    [
      'with types everywhere',
      spec({
        type: 'object',
        properties: { a: text, l: { type: 'array', items: text }, m: { type: 'object', additionalProperties: text } },
      }),
    ],
    [
      'with restrictions of what is described',
      spec({ type: 'object', properties: { a: text }, anyOf: [{ properties: { a: { minLength: 1 } } }] }),
    ],
    ['with an int-or-string', spec({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] })],
    [
      'with an int-or-string that is restricted',
      spec({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }] }),
    ],
    ['without a type where anything goes', spec({ 'x-kubernetes-preserve-unknown-fields': true })],
    [
      'with limits on the name of objects',
      { type: 'object', properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } } },
    ],
  ])('%s', (_, schema) => expect(structuralErrors(Path.of('s'), schema).map(String)).toEqual([]));

  it.each<[string, JsonSchema, readonly string[]]>([
    ['a root without type', {}, ['s.type: Required value: must not be empty at the root']],
    ['a root that is no object', { type: 'array', items: text }, ['s.type: Invalid value: "array": must be object at the root']],
    ['a field without type', spec({}), ['s.properties[spec].type: Required value: must not be empty for specified object fields']],
    [
      'items without type',
      spec({ type: 'array', items: {} }),
      ['s.properties[spec].items.type: Required value: must not be empty for specified array items'],
    ],
    ['an array without items', spec({ type: 'array' }), ['s.properties[spec].items: Required value: must be specified']],
    [
      'additional properties at the root',
      { type: 'object', additionalProperties: text },
      ['s.additionalProperties: Forbidden: must not be used at the root'],
    ],
    [
      'descriptions in a junctor',
      { type: 'object', oneOf: [{ description: 'x', nullable: true }] },
      [
        's.oneOf[0].description: Forbidden: must be empty to be structural',
        's.oneOf[0].nullable: Forbidden: must be false to be structural',
      ],
    ],
    [
      'metadata in a junctor',
      { type: 'object', properties: { metadata: { type: 'object' } }, not: { properties: { metadata: {} } } },
      ['s.not.properties[metadata]: Forbidden: must not be specified in a nested context'],
    ],
    [
      'labels of objects',
      { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
      [
        's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'an embedded resource without fields',
      spec({ type: 'object', 'x-kubernetes-embedded-resource': true }),
      [
        's.properties[spec].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ],
    ],
    [
      'an int-or-string that is anything',
      spec({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
      ['s.properties[spec].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true'],
    ],
    [
      'a broken pattern',
      spec({ type: 'string', pattern: '([' }),
      [
        's.properties[spec].pattern: Invalid value: "([": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[`',
      ],
    ],
  ])('not with %s', (_, schema, errors) => expect(structuralErrors(Path.of('s'), schema).map(String)).toEqual(errors));

  it('only when the root describes what it restricts', () => {
    expect(structuralErrors(Path.of('s'), { type: 'object', allOf: [{ properties: { a: { minLength: 1 } } }] }).map(String)).toEqual([
      's.properties[a]: Required value: because it is defined in s.allOf[0].properties[a]',
    ]);
  });

  it.each<[JsonSchema, string]>([
    [spec({ type: 'string', $ref: '#/x' }), "OpenAPIV3Schema '$ref' is not supported"],
    [{ allOf: [{ definitions: { a: {} } }] }, "OpenAPIV3Schema 'definitions' is not supported"],
    [spec({ type: 'array', items: [text] }), "OpenAPIV3Schema 'items' must be a schema, but is an array"],
  ])('and has no keyword that is not supported: %j', (schema, message) => expect(unsupportedKeyword(schema)).toBe(message));
});

describe('pruning', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: text,
      o: { type: 'object', properties: { x: text } },
      l: { type: 'array', items: { type: 'object', properties: { x: text } } },
      m: { type: 'object', additionalProperties: { type: 'object', properties: { x: text } } },
      any: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { declared: { type: 'object', properties: { x: text } } },
      },
      e: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: text } },
    },
  };

  it('drops what is not declared at every level, and says where', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'K',
      metadata: { anything: 1 },
      nope: 1,
      constructor: 2,
      a: 'x',
      o: { x: 'y', nope: 1 },
      l: [{ x: 'y', nope: 1 }],
      m: { k: { x: 'y', nope: 1 } },
      any: { free: { y: 1 }, declared: { x: '1', y: 2 } },
      e: { apiVersion: 'v1', metadata: { z: 1 }, spec: 's', status: 't' },
    };
    expect(pruneUnknownFields(schema, object)).toEqual({
      object: {
        apiVersion: 'v1',
        kind: 'K',
        metadata: { anything: 1 },
        a: 'x',
        o: { x: 'y' },
        l: [{ x: 'y' }],
        m: { k: { x: 'y' } },
        any: { free: { y: 1 }, declared: { x: '1' } },
        e: { apiVersion: 'v1', metadata: { z: 1 }, spec: 's' },
      },
      unknownFields: ['any.declared.y', 'constructor', 'e.status', 'l[0].nope', 'm.k.nope', 'nope', 'o.nope'],
    });
  });

  it('shares an object that has nothing to drop', () => {
    const object = { a: 'x', l: [{ x: 'y' }] };
    expect(pruneUnknownFields(schema, object).object).toBe(object);
  });

  it('drops nulls that are not allowed and have no default', () => {
    const nulls: JsonSchema = {
      type: 'object',
      properties: { a: text, n: { ...text, nullable: true }, d: { ...text, default: 'x' }, l: { type: 'array', items: text } },
    };
    expect(pruneNulls(nulls, { a: null, n: null, d: null, l: [null], other: null })).toEqual({ n: null, d: null, l: [null], other: null });
  });
});

describe('defaults', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: { ...text, default: 'da' },
      n: { ...text, default: 'dn', nullable: true },
      o: { type: 'object', properties: { x: { type: 'integer', default: 5 } } },
      od: { type: 'object', properties: { x: { type: 'integer', default: 6 } }, default: {} },
      l: { type: 'array', items: { type: 'object', properties: { d: { ...text, default: 'dl' } } } },
      m: { type: 'object', additionalProperties: { type: 'object', properties: { d: { ...text, default: 'dm' } } } },
    },
  };

  it.each<[JsonObject, JsonObject]>([
    [{}, { a: 'da', n: 'dn', od: { x: 6 } }],
    [
      { a: '', n: null, o: {}, od: { x: 1 } },
      { a: '', n: null, o: { x: 5 }, od: { x: 1 } },
    ],
    [
      { a: null, l: [{}, { d: 'x' }], m: { k: {} } },
      { a: 'da', n: 'dn', od: { x: 6 }, l: [{ d: 'dl' }, { d: 'x' }], m: { k: { d: 'dm' } } },
    ],
  ])('fill in %j', (object, result) => expect(applyDefaults(schema, object)).toEqual(result));

  it('leave an object alone that has everything', () => {
    const object = { a: 'x', n: 'y', od: { x: 1 } };
    expect(applyDefaults(schema, object)).toBe(object);
  });

  it.each<[string, JsonSchema, string]>([
    [
      'break the limits',
      { type: 'integer', minimum: 5, default: 1 },
      's.properties[spec].default: Invalid value: 1:  in body should be greater than or equal to 5',
    ],
    [
      'have another type',
      { type: 'integer', default: 'x' },
      's.properties[spec].default: Invalid value: "string":  in body must be of type integer: "string"',
    ],
    ['lack what is required', { type: 'object', required: ['x'], default: {} }, 's.properties[spec].default.x: Required value'],
    [
      'have unknown fields',
      { type: 'object', properties: { x: text }, default: { y: 'z' } },
      's.properties[spec].default: Invalid value: {"y":"z"}: must not have unknown fields',
    ],
  ])('are refused when they %s', (_, schema, error) => {
    expect(defaultErrors(Path.of('s'), spec(schema), { metadata: METADATA, requirePruned: true }).map(String)).toEqual([error]);
  });

  it('lose unknown fields where those were let in before', () => {
    const schema = spec({ type: 'object', properties: { x: text }, default: { x: 'a', y: 'z' } });
    expect(applyDefaults(withPrunedDefaults(schema), {})).toEqual({ spec: { x: 'a' } });
  });
});

describe('lists', () => {
  const errors = (schema: JsonSchema, value: JsonValue) => listTypeErrors(Path.none, spec(schema), { spec: value }).map(String);

  it('of type set hold a value once', () => {
    const schema: JsonSchema = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' };
    expect(errors(schema, ['a', 'b', 'a', 'a'])).toEqual(['spec[2]: Duplicate value: "a"']);
    expect(
      errors({ ...schema, items: { type: 'object' } }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toEqual(['spec[1]: Duplicate value: {"b":2,"a":1}']);
  });

  it('of type map hold a combination of keys once', () => {
    const schema: JsonSchema = {
      type: 'array',
      items: { type: 'object' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'p'],
    };
    expect(errors(schema, [{ k: 1, p: 2 }, { k: 1 }, { k: 1, p: 2, v: 3 }, { k: 1 }])).toEqual([
      'spec[2]: Duplicate value: {"k":1,"p":2}',
      'spec[3]: Duplicate value: {"k":1}',
    ]);
    expect(errors(schema, ['x'])).toEqual(['spec[0]: Invalid value: "x": must be an object for an array of list-type map']);
  });
});

describe('a path through a schema', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: { type: 'object', additionalProperties: text }, l: { type: 'array', items: text } },
  };

  it.each([
    ['.a', 'a', 'object'],
    [".a['x.y']", 'a[x.y]', 'string'],
    ['.a.key', 'a[key]', 'string'],
    ["['l']", 'l', 'array'],
  ])('%s leads to %s', (text, path, type) => {
    const target = followSchemaPath(text, schema);
    expect([String(target.path), target.schema?.type]).toEqual([path, type]);
  });

  it.each([
    ['a', 'expected [ or . but got: a'],
    ['.nope', 'does not refer to a valid field'],
    ['.l[0]', 'expected single quoted string but got 0'],
    ['.', 'unexpected end of JSON path'],
    [".a['x'", 'unexpected end of JSON path'],
    [".a['\\q']", 'invalid string literal: invalid escape char \\q'],
  ])('%s leads nowhere: %s', (text, message) => expect(() => followSchemaPath(text, schema)).toThrow(new SchemaPathError(message)));

  it('may be denied subscripts', () => {
    expect(() => followSchemaPath(".a['x']", schema, { subscripts: false })).toThrow('array notation is not allowed');
  });
});

interface Sample {
  readonly schema: JsonSchema;
  readonly value: fc.Arbitrary<JsonValue>;
}

const names = fc.constantFrom('a', 'b', 'x-y', 'constructor');
const samples: fc.Memo<Sample> = fc.memo((depth) => {
  const scalar = fc.constantFrom<Sample>(
    { schema: { type: 'string', maxLength: 5 }, value: fc.string({ maxLength: 5 }) },
    { schema: { type: 'integer', minimum: 0 }, value: fc.nat() },
    { schema: { type: 'boolean' }, value: fc.boolean() },
    { schema: { 'x-kubernetes-int-or-string': true }, value: fc.oneof(fc.nat(), fc.string()) },
    {
      schema: { 'x-kubernetes-preserve-unknown-fields': true },
      value: fc.jsonValue({ maxDepth: 2 }).filter((v) => v !== null) as fc.Arbitrary<JsonValue>,
    },
  );
  if (depth <= 1) return scalar;
  const list = samples(depth - 1).map(
    (item): Sample => ({ schema: { type: 'array', items: item.schema }, value: fc.array(item.value, { maxLength: 3 }) }),
  );
  const map = samples(depth - 1).map(
    (item): Sample => ({
      schema: { type: 'object', additionalProperties: item.schema },
      value: fc.dictionary(names, item.value, { maxKeys: 3 }),
    }),
  );
  return fc.oneof(scalar, list, map, objects(depth - 1));
});
const objects = (depth: number) =>
  fc.dictionary(names, samples(depth), { maxKeys: 4 }).map((fields): Sample => {
    const schemas = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema]));
    const values = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));
    return { schema: { type: 'object', properties: schemas }, value: fc.record(values, { requiredKeys: [] }) as fc.Arbitrary<JsonValue> };
  });
const cases = objects(4).chain(({ schema, value }) => value.map((object) => ({ schema, object: object as JsonObject })));

describe('for any schema', () => {
  it('what was made by it is structural, valid and not pruned', () => {
    fc.assert(
      fc.property(cases, ({ schema, object }) => {
        expect(structuralErrors(Path.of('s'), schema)).toEqual([]);
        expect(new ValueValidator(schema).validate(object).errors).toEqual([]);
        expect(pruneUnknownFields(schema, object)).toEqual({ object, unknownFields: [] });
        expect(compileResource(schema, METADATA.schema as never).fieldsByName.has('metadata')).toBe(true);
      }),
    );
  });

  it('pruning and defaulting anything are done once, and change nothing that was handed in', () => {
    fc.assert(
      fc.property(objects(4), fc.dictionary(names, fc.jsonValue({ maxDepth: 3 })), ({ schema }, any) => {
        const object = any as JsonObject;
        const copy = JSON.stringify(object);
        const pruned = pruneUnknownFields(schema, object).object;
        expect(pruneUnknownFields(schema, pruned)).toEqual({ object: pruned, unknownFields: [] });
        const defaulted = applyDefaults(schema, pruned);
        expect(valuesEqual(applyDefaults(schema, defaulted), defaulted)).toBe(true);
        new ValueValidator(schema).validate(object);
        expect(JSON.stringify(object)).toBe(copy);
      }),
    );
  });
});
