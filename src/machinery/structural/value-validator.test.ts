import { describe, expect, it } from 'vitest';
import { Path } from '../errors/field-path.ts';
import type { JsonValue } from '../json/json-value.ts';
import { Correlation } from './correlation.ts';
import type { JsonSchema } from './json-schema.ts';
import { ValueValidator } from './value-validator.ts';

function errorsOf(schema: JsonSchema, value: JsonValue): string[] {
  return new ValueValidator({ type: 'object', properties: { v: schema } })
    .validate({ v: value })
    .errors.map((error) => String(error.toFieldError(Path.none)));
}

describe('a value', () => {
  it.each<[JsonSchema, JsonValue]>([
    [{ type: 'string' }, 'x'],
    [{ type: 'integer' }, 5],
    [{ type: 'number' }, 5],
    [{ type: 'number', format: 'double' }, 1e300],
    [{ type: 'string', nullable: true }, null],
    [{}, { any: ['thing'] }],
    [{ 'x-kubernetes-int-or-string': true }, '50%'],
    [{ type: 'string', maxLength: 2 }, 'éé'],
    [{ type: 'string', maxLength: 1 }, '😀'],
    [{ type: 'integer', multipleOf: 3 }, 6],
    [{ type: 'number', multipleOf: 0.1 }, 0.3],
    [{ type: 'string', format: 'frob' }, 'anything'],
    [{ type: 'array', items: { type: 'string' }, uniqueItems: true }, ['a', 'b']],
    [{ enum: [1, 'a', { b: 1 }] }, { b: 1 }],
    [
      { type: 'object', properties: { a: { type: 'string' } } },
      { a: 'x', constructor: 1 },
    ],
    [{ type: 'string', oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, 'b'],
  ])('of %j may be %j', (schema, value) => expect(errorsOf(schema, value)).toEqual([]));

  it.each<[JsonSchema, JsonValue, readonly string[]]>([
    [{ type: 'string' }, 5, ['v: Invalid value: "integer": v in body must be of type string: "integer"']],
    [{ type: 'string' }, null, ['v: Invalid value: "null": v in body must be of type string: "null"']],
    [{ type: 'array', items: {} }, {}, ['v: Invalid value: "object": v in body must be of type array: "object"']],
    [{ 'x-kubernetes-int-or-string': true }, 1.5, ['v: Invalid value: "number": v in body must be of type integer,string: "number"']],
    [
      { type: 'integer' },
      1.5,
      [
        'v: Invalid value: "number": v in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in v',
      ],
    ],
    [
      { type: 'integer', format: 'int32' },
      2 ** 31,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in v'],
    ],
    [{ type: 'number', format: 'float' }, 1e300, ['<nil>: Invalid value: "": Checked value must be of type number with format float in v']],
    [{ type: 'integer', minimum: 3 }, 2, ['v: Invalid value: 2: v in body should be greater than or equal to 3']],
    [{ type: 'integer', minimum: 3, exclusiveMinimum: true }, 3, ['v: Invalid value: 3: v in body should be greater than 3']],
    [
      { type: 'integer', maximum: 2.5 },
      3,
      [
        '<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in v',
        'v: Invalid value: 3: v in body should be less than or equal to 2.5',
      ],
    ],
    [{ type: 'number', maximum: 3, exclusiveMaximum: true }, 3, ['v: Invalid value: 3: v in body should be less than 3']],
    [{ type: 'integer', multipleOf: 3 }, 7, ['v: Invalid value: 7: v in body should be a multiple of 3']],
    [{ type: 'integer', multipleOf: -1 }, 7, ['v: Invalid value: -1: factor MultipleOf declared for v must be positive: -1']],
    [{ type: 'string', maxLength: 2 }, 'abc', ['v: Too long: may not be more than 2 bytes']],
    [{ type: 'string', minLength: 2, pattern: '^b' }, 'a', ['v: Invalid value: "a": v in body should be at least 2 chars long']],
    [{ type: 'string', pattern: '^a+$' }, 'xaa', ['v: Invalid value: "xaa": v in body should match \'^a+$\'']],
    [{ type: 'string', enum: ['x', 'y'] }, 'z', ['v: Unsupported value: "z": supported values: "x", "y"']],
    [{ type: 'integer', enum: [1, 2] }, 3, ['v: Unsupported value: 3: supported values: "1", "2"']],
    [{ nullable: true, enum: ['x'] }, null, ['v: Unsupported value: null: supported values: "x"']],
    [
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a', 1],
      ['v[1]: Invalid value: "integer": v[1] in body must be of type string: "integer"', 'v: Too many: 2: must have at most 1 item'],
    ],
    [{ type: 'array', items: {}, minItems: 1 }, [], ['v: Invalid value: 0: v in body should have at least 1 items']],
    [
      { type: 'array', items: {}, uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ['v: Invalid value: "": v in body shouldn\'t contain duplicates'],
    ],
    [{ type: 'object', required: ['a'] }, {}, ['v.a: Required value']],
    [{ type: 'object', minProperties: 1 }, {}, ['v: Invalid value: 0: v in body should have at least 1 properties']],
    [{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, ['v: Too many: 2: must have at most 1 item']],
    [
      { type: 'object', additionalProperties: { type: 'integer' } },
      { z: true },
      ['v.z: Invalid value: "boolean": v.z in body must be of type integer: "boolean"'],
    ],
    [{ type: 'object', additionalProperties: false }, { z: true }, ['v: Invalid value: "z": v.z in body is a forbidden property']],
    [
      { type: 'string', allOf: [{ minLength: 2 }, { pattern: '^a' }] },
      'b',
      [
        'v: Invalid value: "b": v in body should be at least 2 chars long',
        'v: Invalid value: "b": v in body should match \'^a\'',
        '<nil>: Invalid value: "": "v" must validate all the schemas (allOf). None validated',
      ],
    ],
    [{ type: 'object', not: { required: ['x'] } }, { x: 1 }, ['<nil>: Invalid value: "": "v" must not validate the schema (not)']],
    [
      { type: 'string', oneOf: [{ pattern: 'a' }, { pattern: 'b' }] },
      'ab',
      ['<nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      { type: 'string', oneOf: [{ pattern: 'a' }] },
      'c',
      [
        '<nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found none valid',
        'v: Invalid value: "c": v in body should match \'a\'',
      ],
    ],
    [{ type: 'string', format: 'date' }, 5, ['v: Invalid value: "int64": v in body must be of type date: "int64"']],
  ])('of %j may not be %j', (schema, value, errors) => expect(errorsOf(schema, value)).toEqual(errors));

  it('may be an integer that no double holds', () => {
    expect(errorsOf({ type: 'integer', minimum: 1, multipleOf: 2 }, 2n ** 62n)).toEqual([]);
  });

  it('is no integer beyond 64 bits', () =>
    expect(errorsOf({ type: 'integer' }, 2n ** 63n)).toEqual([
      'v: Invalid value: "number": v in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in v',
    ]));

  it('that fits no alternative is explained by the one it comes closest to', () => {
    const schema = {
      type: 'object',
      anyOf: [{ required: ['a', 'b'] }, { required: ['c'], properties: { x: { minimum: 10 } } }],
      properties: { x: {} },
    };
    expect(errorsOf(schema, { x: 5, c: 1 })).toEqual([
      '<nil>: Invalid value: "": "v" must validate at least one schema (anyOf)',
      'v.x: Invalid value: 5: v.x in body should be greater than or equal to 10',
    ]);
  });

  it.each<[string, string, boolean]>([
    ['date', '2001-02-29', false],
    ['date', '2000-02-29', true],
    ['date-time', '2001-01-01T00:00:00Z', true],
    ['date-time', '2001-01-01t23:59:59.5+02:00', true],
    ['date-time', '2001-01-01T24:00:00Z', false],
    ['datetime', '2001-01-01', false],
    ['email', 'Some One <a@b.c>', true],
    ['email', 'a@', false],
    ['hostname', 'a.b', false],
    ['hostname', 'example.com', true],
    ['ipv4', '010.1.2.3', true],
    ['ipv4', '::1', false],
    ['ipv6', '::1', true],
    ['ipv6', '1.2.3.4', false],
    ['cidr', '10.0.0.0/8', true],
    ['cidr', '10.0.0.0', false],
    ['mac', '00:11:22:33:44:55', true],
    ['mac', '0011.2233.4455', true],
    ['mac', '00:11:22', false],
    ['mac', '00:11:22:33:44:55:66', false],
    ['mac', '00-11-22-33-44-55-66-77', true],
    ['mac', '00:11-22:33:44:55', false],
    ['cidr', '010.0.0.0/08', true],
    ['cidr', '2001:db8::/032', true],
    ['isbn', '978-0321751041', true],
    ['isbn10', '032175104X', false],
    ['rgbcolor', 'rgb( 1, 2 ,255)', true],
    ['rgbcolor', 'rgb(256,2,3)', false],
    ['duration', '3 days', true],
    ['duration', '99999999999999999999 days', false],
    ['k8s-short-name', 'a-b', true],
    ['k8s-short-name', 'A', false],
    ['k8s-long-name', 'a.b-c.d', true],
    ['k8s-long-name', 'a..b', false],
    ['uri', 'http://x/', true],
    ['uri', 'not a uri', false],
    ['uuid', '6ba7b8109dad11d180b400c04fd430c8', true],
    ['uuid3', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', false],
    ['uuid4', '6ba7b810-9dad-41d1-80b4-00c04fd430c8', true],
    ['byte', 'AA==', true],
    ['byte', '!!', false],
    ['duration', '1h', true],
    ['duration', '3 days', true],
    ['duration', 'x', false],
    ['isbn', '978-0321751041', true],
    ['isbn10', '0321751043', true],
    ['isbn10', '0321751044', false],
    ['creditcard', '4111 1111 1111 1111', true],
    ['creditcard', '4111 1111 1111 1112', false],
    ['ssn', '111-11-1111', true],
    ['hexcolor', '#fff', true],
    ['rgbcolor', 'rgb(0, 1, 255)', true],
    ['rgbcolor', 'rgb(0, 1, 256)', false],
    ['bsonobjectid', '507f1f77bcf86cd799439011', true],
    ['k8s-short-name', 'abc', true],
    ['k8s-short-name', 'A', false],
    ['k8s-long-name', 'a.b-c', true],
    ['password', '', true],
  ])('of format %s may be %j: %s', (format, value, isValid) => {
    expect(errorsOf({ type: 'string', format }, value)).toEqual(
      isValid ? [] : [`v: Invalid value: ${JSON.stringify(value)}: v in body must be of type ${format}: ${JSON.stringify(value)}`],
    );
  });
});

describe('a changed value', () => {
  const limited: JsonSchema = { type: 'string', maxLength: 2 };
  const keyed: JsonSchema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: { type: 'string' }, v: limited } },
  };
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: limited,
      b: { type: 'string' },
      map: keyed,
      list: { type: 'array', items: limited },
      values: { type: 'object', additionalProperties: limited },
      o: { type: 'object', properties: { x: { type: 'string' } }, required: ['y'] },
    },
  };
  const errorsAfter = (old: JsonValue, value: JsonValue) =>
    new ValueValidator(schema)
      .validateUpdate(value, new Correlation(value, old, schema))
      .errors.map((error) => String(error.toFieldError(Path.none)));

  it.each<[string, JsonValue, JsonValue]>([
    ['a field that is as wrong as before', { a: 'long' }, { a: 'long', b: 'new' }],
    ['an item with the same keys', { map: [{ k: 'a', v: 'long' }] }, { map: [{ k: 'z' }, { k: 'a', v: 'long' }] }],
    ['a list that did not change', { list: ['long'] }, { list: ['long'], b: 'x' }],
    ['a value of a map', { values: { k: 'long' } }, { values: { k: 'long', l: 'ok' } }],
    ['a requirement of an object that did not change', { o: { x: '1' } }, { o: { x: '1' }, b: 'y' }],
  ])('keeps %s', (_, old, value) => expect(errorsAfter(old, value)).toEqual([]));

  it.each<[string, JsonValue, JsonValue, string]>([
    ['a field that is wrong in another way', { a: 'long' }, { a: 'longer' }, 'a: Too long: may not be more than 2 bytes'],
    ['a new item', { map: [{ k: 'a', v: 'long' }] }, { map: [{ k: 'b', v: 'long' }] }, 'map[0].v: Too long: may not be more than 2 bytes'],
    ['items of a list that changed', { list: ['long'] }, { list: ['long', 'x'] }, 'list[0]: Too long: may not be more than 2 bytes'],
    ['a requirement of an object that changed', { o: { x: '1' } }, { o: { x: '2' } }, 'o.y: Required value'],
  ])('does not keep %s', (_, old, value, error) => expect(errorsAfter(old, value)).toEqual([error]));
});
