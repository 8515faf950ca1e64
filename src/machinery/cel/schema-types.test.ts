import { describe, expect, test } from 'vitest';
import { compile } from './compile.ts';
import { costErrorMessage, MAX_REQUEST_SIZE, maxCardinality, STATIC_ESTIMATED_COST_LIMIT } from './limits.ts';
import { schemaType, type TypedSchema } from './schema-types.ts';
import { optionalType } from './types.ts';

function object(properties: Record<string, TypedSchema>, more: TypedSchema = {}): TypedSchema {
  return { type: 'object', properties, ...more };
}

const text: TypedSchema = { type: 'string' };
const integer: TypedSchema = { type: 'integer' };

function selfType(schema: TypedSchema, isResourceRoot = false) {
  const type = schemaType(schema, { name: 'self', isResourceRoot });
  if (type === undefined) throw new Error('the schema has no type');
  return type;
}

function program(rule: string, schema: TypedSchema) {
  const self = selfType(schema);
  const result = compile(rule, { variables: { self, oldSelf: self } });
  if (!result.ok) throw new Error(result.message);
  return result.program;
}

function run(rule: string, schema: TypedSchema, self: unknown, oldSelf: unknown = self) {
  const outcome = program(rule, schema).run({ self, oldSelf });
  return outcome.error?.message ?? outcome.value;
}

describe('data has the type that its schema declares', () => {
  const schema = object({
    integer,
    number: { type: 'number' },
    text,
    flag: { type: 'boolean' },
    bytes: { type: 'string', format: 'byte' },
    date: { type: 'string', format: 'date' },
    time: { type: 'string', format: 'date-time' },
    duration: { type: 'string', format: 'duration' },
    either: { 'x-kubernetes-int-or-string': true },
    nullable: { type: 'string', nullable: true },
    list: { type: 'array', items: text },
    map: { type: 'object', additionalProperties: integer },
    'x-y/z.a__b': integer,
    namespace: text,
    in: integer,
    '9lives': integer,
  });
  const data = {
    integer: 5,
    number: 5,
    text: 'abc',
    flag: true,
    bytes: 'AAECAw==',
    date: '2023-01-02',
    time: '2023-01-02T03:04:05Z',
    duration: '1h30m',
    either: '25%',
    nullable: null,
    list: ['a', 'b'],
    map: { k: 1 },
    'x-y/z.a__b': 1,
    namespace: 'ns',
    in: 2,
    '9lives': 9,
    constructor: 'x',
  };
  test.each([
    'type(self.integer) == int && type(self.number) == double && self.number == 5.0',
    'self.bytes == b"\\x00\\x01\\x02\\x03"',
    'self.date == timestamp("2023-01-02T00:00:00Z")',
    'self.time > timestamp("2023-01-02T03:04:04Z") && self.time.getHours() == 3',
    'self.duration == duration("90m")',
    'type(self.either) == string && self.either == "25%"',
    '!has(self.nullable)',
    'self.list.exists(x, x == "b") && self.map.k == 1 && self.map["k"] == 1 && has(self.map.k)',
    'self.x__dash__y__slash__z__dot__a__underscores__b == 1',
    'self.namespace == "ns" && self.__namespace__ == "ns" && self.__in__ == 2',
    'type(self) == map && type(self.list) == list',
    'self == oldSelf',
  ])('%s', (rule) => {
    expect(run(rule, schema, data)).toBe(true);
  });

  test('what is not declared or cannot be named is not seen', () => {
    expect(() => program('self.nope == 1', schema)).toThrow("undefined field 'nope'");
    expect(() => program('has(self.constructor)', schema)).toThrow("undefined field 'constructor'");
  });

  test.each([
    ['self.integer > 1', {}, 'no such key: integer'],
    ['self.list[5] == "x"', data, 'index out of bounds: 5'],
    ['self.map.nope == 1', data, 'no such key: nope'],
    ['self.integer > 1', { integer: 'x' }, 'invalid data, expected int, got string'],
    ['self.integer > 1', { integer: 1.5 }, 'invalid data, expected int, got float64'],
    ['self.number > 1.0', { number: true }, 'invalid data, expected float, got bool'],
    ['self.list.size() > 1', { list: {} }, 'invalid data, expected an array for the provided schema with type=array'],
    ['has(self.map)', { map: [] }, 'invalid data, expected a map for the provided schema with type=object'],
    ['self.either == 1', { either: 1.5 }, 'invalid data, expected XIntOrString value to be either a string or integer'],
    ['self.duration > duration("1s")', { duration: 'x' }, 'Invalid duration x: unable to parse x as duration'],
    ['self.list.all(x, x != "")', { list: [null] }, 'invalid data, got null for schema with nullable=false'],
  ])('%s on %j fails', (rule, self, message) => {
    expect(run(rule, schema, self)).toBe(message);
  });

  test('beyond 2^53 integers stay exact', () => {
    expect(run('self.integer == 9223372036854775807', schema, { integer: 9223372036854775807n })).toBe(true);
    expect(run('self.integer + 1 > 0', schema, { integer: 9223372036854775807n })).toBe('integer overflow');
  });

  test('durations may be words', () => {
    expect(run('self.duration == duration("51h")', schema, { duration: '2 days 3 hours' })).toBe(true);
  });
});

describe('lists compare and add by their kind', () => {
  const set = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' };
  const keyed: TypedSchema = {
    type: 'array',
    items: object({ k: text, v: integer }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  };
  const atomic = { type: 'array', items: text };
  const items = (...entries: readonly [k: string, v: number][]) => entries.map(([k, v]) => ({ k, v }));
  test.each([
    ['self == oldSelf', set, { self: ['x', 'y'], oldSelf: ['y', 'x'] }, true],
    ['self == oldSelf', set, { self: ['x', 'y'], oldSelf: ['y', 'z'] }, false],
    ['self == ["y", "x"]', set, { self: ['x', 'y'], oldSelf: [] }, true],
    ['self == oldSelf', atomic, { self: ['x', 'y'], oldSelf: ['y', 'x'] }, false],
    ['(self + oldSelf).size()', set, { self: ['x', 'y'], oldSelf: ['y', 'z'] }, 3],
    ['(self + oldSelf).size()', atomic, { self: ['x', 'y'], oldSelf: ['y', 'z'] }, 4],
    ['self == oldSelf', keyed, { self: items(['a', 1], ['b', 2]), oldSelf: items(['b', 2], ['a', 1]) }, true],
    ['self == oldSelf', keyed, { self: items(['a', 1]), oldSelf: items(['a', 2]) }, false],
    ['(self + oldSelf).map(e, e.v).sum()', keyed, { self: items(['a', 1], ['b', 5]), oldSelf: items(['a', 2], ['c', 4]) }, 11],
  ])('%s', (rule, schema, { self, oldSelf }, result) => {
    expect(run(rule, schema, self, oldSelf)).toBe(result);
  });
});

test('the CEL type of a resource root always has apiVersion, kind and metadata names', () => {
  const self = selfType(object({}), true);
  const result = compile('self.kind == "K" && self.apiVersion == "v1" && self.metadata.name == "n" && !has(self.metadata.generateName)', {
    variables: { self },
  });
  expect(result.program?.evaluate({ self: { kind: 'K', apiVersion: 'v1', metadata: { name: 'n', labels: {} } } })).toBe(true);
  expect(compile('self.metadata.labels', { variables: { self } })).toMatchObject({
    message: expect.stringContaining("undefined field 'labels'"),
  });
});

test('oldSelf with optionalOldSelf is absent on creation', () => {
  const self = selfType(object({ n: integer }));
  const rule = compile('!oldSelf.hasValue() || oldSelf.value().n <= self.n', { variables: { self, oldSelf: optionalType(self) } });
  expect(rule.ok).toBe(true);
});

describe('estimated costs are those of upstream', () => {
  const values = (...schemas: TypedSchema[]) => object(Object.fromEntries(schemas.map((schema, i) => [`val${i + 1}`, schema])));
  test.each<[rule: string, schema: TypedSchema, cost: number]>([
    ['self.val1 == self.val2', values(integer, integer), 4],
    ['type(self.val1) == int', values(integer), 4],
    ['self.val1.startsWith("Rook")', values(text), 3],
    ['self.val1 == self.val2', values(text, text), 314577],
    ['self.val1.matches("^[^0-9]*$")', values(text), 943721],
    ['self.val1.matches("^[^0-9]*$")', values({ type: 'string', maxLength: 10 }), 17],
    ['self.val1.all(x, x > 0)', values({ type: 'array', items: integer }), 7864318],
    ['self.val1.all(x, x > 0)', values({ type: 'array', items: integer, maxItems: 10 }), 53],
    ['self.val1.map(k, k).size() == 1', values({ type: 'object', additionalProperties: integer, maxProperties: 3 }), 54],
    ['isQuantity(self.val1)', values(text), 314575],
  ])('%s', (rule, schema, cost) => {
    expect(program(rule, schema).estimateCost().max).toBe(cost);
  });

  test('grow with what the schema leaves open, and say by how much they exceed the budget', () => {
    expect(costErrorMessage('estimated rule cost', 1e12, STATIC_ESTIMATED_COST_LIMIT)).toBe(
      'estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    );
    expect(costErrorMessage('x', 12_000_000, 10_000_000)).toMatch(/^x exceeds budget by factor of 1\.200000x \(/);
    expect(costErrorMessage('x', 25_000_000, 10_000_000)).toMatch(/^x exceeds budget by factor of 2\.5x \(/);
    expect(maxCardinality(2)).toBe(Math.floor(MAX_REQUEST_SIZE / 3));
  });

  test('count the least size of required fields', () => {
    const schema = object({ ab: integer, c: text, d: { ...text, default: 'x' } }, { required: ['ab', 'd'] });
    expect(selfType(schema).traits.minSerializedSize).toBe(2 + (2 + 1 + 4));
    expect(selfType({ type: 'array', items: integer }).traits.maxElements).toBe((MAX_REQUEST_SIZE - 2) / 2);
  });
});

describe('run-time costs are those of upstream', () => {
  test.each<[rule: string, schema: TypedSchema, data: unknown, cost: number]>([
    ['self.a == self.b', object({ a: integer, b: integer }), { a: 1, b: 1 }, 5],
    ['self.a.startsWith("Rook")', object({ a: text }), { a: 'Rook takes 👑' }, 4],
    ['self.a.matches("^[^0-9]*$")', object({ a: text }), { a: 'Rook takes 👑' }, 8],
    ['self.a.split(" ") == ["Rook", "takes", "👑"]', object({ a: text }), { a: 'Rook takes 👑' }, 6],
    ['"%o %o %o".format([7, 8, 9]) == "7 10 11"', object({ a: text }), {}, 2],
    ['self.a.?b == optional.none()', object({ a: object({ b: text }) }), { a: {} }, 4],
  ])('%s', (rule, schema, data, cost) => {
    expect(program(rule, schema).run({ self: data, oldSelf: data })).toMatchObject({ value: true, cost });
  });
});
