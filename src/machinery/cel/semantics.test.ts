import { describe, expect, test } from 'vitest';
import { type CompileOptions, compile } from './compile.ts';
import { FULL_ENVIRONMENT } from './environments.ts';
import { DYN, INT, STRING } from './types.ts';
import { toJson } from './values/inspect.ts';

const VARIABLES = { d: DYN, n: INT, s: STRING };
const DATA = { d: { a: 1, b: { c: 'x' }, list: [1, 2.5, 'three', null], empty: {}, big: 1e99, bad: 'x' }, n: 7, s: 'text' };

function run(expression: string, options: CompileOptions = {}, data: Record<string, unknown> = DATA) {
  const result = compile(expression, { environment: FULL_ENVIRONMENT, variables: VARIABLES, ...options });
  if (!result.ok) throw new Error(result.message);
  const outcome = result.program.run(data);
  return outcome.error === undefined ? toJson(outcome.value) : `error: ${outcome.error.message}`;
}

type Case = readonly [expression: string, result: unknown];

function table(name: string, cases: readonly Case[]): void {
  describe(name, () => {
    test.each(cases)('%s', (expression, result) => {
      expect(run(expression)).toEqual(result);
    });
  });
}

table('ints are exact 64-bit integers', [
  ['1 + 2 * 3 - 4', 3],
  ['7 / 2', 3],
  ['-7 / 2', -3],
  ['-7 % 3', -1],
  ['9007199254740993 + 0', 9007199254740993n],
  ['9007199254740991 + 1 - 1', 9007199254740991],
  ['3037000500 * 3037000499', 9223372033963249500n],
  ['9223372036854775807 + 1', 'error: integer overflow'],
  ['-9223372036854775808 - 1', 'error: integer overflow'],
  ['4611686018427387904 * 2', 'error: integer overflow'],
  ['-(-9223372036854775808)', 'error: integer overflow'],
  ['-9223372036854775808 / -1', 'error: integer overflow'],
  ['-9223372036854775808 % -1', 'error: integer overflow'],
  ['1 / 0', 'error: division by zero'],
  ['1 % 0', 'error: modulus by zero'],
  ['0x10', 16],
  ['-0x10', -16],
  ['--5', 5],
  ['int(9.9)', 9],
  ['int(-9.9)', -9],
  ['int(d.big)', 'error: integer overflow'],
  ['int("-42")', -42],
  ['int(5u)', 5],
]);

table('uints and doubles keep to their own kind', [
  ['1u + 2u == 3u', true],
  ['1u - 2u', 'error: unsigned integer overflow'],
  ['18446744073709551615u + 1u', 'error: unsigned integer overflow'],
  ['18446744073709551615u', 18446744073709551615n],
  ['uint(-1 + n - 7)', 'error: unsigned integer overflow'],
  ['6u / 4u', 1],
  ['6u % 4u', 2],
  ['6u / 0u', 'error: division by zero'],
  ['1.5 + 1.5', 3],
  ['1.0 / 0.0 > 1e308', true],
  ['0.1 + 0.2 == 0.3', false],
  ['double("NaN") == double("NaN")', false],
  ['dyn(double("NaN")) < 1', 'error: NaN values cannot be ordered'],
]);

table('numbers compare across their types', [
  ['dyn(1) == 1.0', true],
  ['dyn(1) == 1u', true],
  ['dyn(1u) == 1.0', true],
  ['dyn(9007199254740993) == 9007199254740992.0', true],
  ['1 < 1.5', true],
  ['1u <= 1', true],
  ['-1 < 0u', true],
  ['2.5 >= 2', true],
  ['dyn(1.0) in [1, 2]', true],
  ['!(dyn(1.5) in [1, 2])', true],
  ['{1: "a"}[dyn(1u)]', 'a'],
  ['{1: "a"}[dyn(1.0)]', 'a'],
  ['[dyn(1), dyn(2)] == [dyn(1.0), dyn(2u)]', true],
]);

table('text is counted in characters', [
  ['size("héllo 👑")', 7],
  ['"abc" < "abd" && "Z" < "a"', true],
  ['"\\U0001F451" > "\\uFFFD"', true],
  ['\'a\\nb\' == "a\\x0ab"', true],
  ["r'a\\nb'", 'a\\nb'],
  ["'''a\n'b'''", "a\n'b"],
  ['b"ab\\xff\\303\\277"', 'YWL/w78='],
  ['bytes("é").size()', 2],
  ['string(b"\\xff" + bytes(s))', 'error: invalid UTF-8 in bytes, cannot convert to string'],
  ['"a" + "b" + string(1) + string(true) + string(2u)', 'ab1true2'],
  ['string(1.5) + " " + string(1000000.0) + " " + string(0.00001)', '1.5 1e+06 1e-05'],
]);

table('a decided && or || absorbs the failure of its other side', [
  ['1 / 0 > 1 || true', true],
  ['true || 1 / 0 > 1', true],
  ['1 / 0 > 1 || false', 'error: division by zero'],
  ['false && 1 / 0 > 1', false],
  ['1 / 0 > 1 && false', false],
  ['1 / 0 > 1 && true', 'error: division by zero'],
  ['d.nope == 1 || d.a == 1', true],
  ['d.nope == 1 && d.a == 2', false],
  ['dyn(1) || true', true],
  ['dyn(1) || false', 'error: no such overload'],
  ['[1, 0].exists(x, 1 / x > 0)', true],
  ['[0, 1].exists(x, 1 / x > 0)', true],
  ['[0].exists(x, 1 / x > 0)', 'error: division by zero'],
  ['[0, 2].all(x, 1 / x > 0)', false],
  ['[0, 1].all(x, 1 / x > 0)', 'error: division by zero'],
  ['true ? 1 : 1 / 0', 1],
  ['dyn(1) ? 1 : 2', 'error: no such overload'],
]);

table('fields, keys and indices', [
  ['d.a', 1],
  ['d.b.c', 'x'],
  ['d["b"]["c"]', 'x'],
  ['d.nope', 'error: no such key: nope'],
  ['d.a.nope', 'error: no such key: nope'],
  ['d.constructor', 'error: no such key: constructor'],
  ['has(d.__proto__)', false],
  ['has(d.a) && !has(d.nope) && has(d.b.c)', true],
  ['has(d.nope.deeper)', 'error: no such key: nope'],
  ['d.list[1]', 2.5],
  ['d.list[4]', 'error: index out of bounds: 4'],
  ['d.list[-1]', 'error: index out of bounds: -1'],
  ['[1, 2][dyn("a")]', "error: unsupported index type 'string' in list"],
  ['{"a": 1}["b"]', 'error: no such key: b'],
  ['{1: 2}[3]', 'error: no such key: 3'],
  ['type(d.list[0]) == int && type(d.list[1]) == double && type(d.list[3]) == null_type', true],
  ['"a" in d && !("z" in d)', true],
  ['2.5 in d.list', true],
]);

table('dynamic values fail where no overload fits', [
  ['dyn(1) + dyn("a")', 'error: no such overload'],
  ['dyn(true) + 1', 'error: no such overload: _+_'],
  ['dyn({}) - 1', 'error: no such overload: _-_'],
  ['dyn([]) < 1', 'error: no such overload: _<_'],
  ['!dyn(1)', 'error: no such overload'],
  ['dyn(1).size()', 'error: no such overload: size'],
  ['dyn(1).startsWith("a")', 'error: no such overload'],
  ['dyn(1).charAt(0)', 'error: no such overload: charAt(int, int)'],
  ['string(d.list)', 'error: no such overload: string(list)'],
  ['int(d.bad)', "error: type conversion error from 'string' to 'int'"],
  ['dyn(1).map(x, x)', "error: got 'types.Int', expected iterable type"],
  ['dyn("a").all(k, v, true)', 'error: unsupported comprehension range type: types.String'],
]);

table('macros over lists and maps', [
  ['[1, 2, 3].all(x, x > 0)', true],
  ['[1, 2, 3].exists(x, x > 2)', true],
  ['[1, 2, 3].exists_one(x, x > 2) && ![1, 2, 3].existsOne(x, x > 1)', true],
  ['[1, 2, 3].map(x, x * x)', [1, 4, 9]],
  ['[1, 2, 3].map(x, x > 1, x * x)', [4, 9]],
  ['[1, 2, 3].filter(x, x % 2 == 1)', [1, 3]],
  ['{"a": 1, "b": 2}.map(k, k + "!")', ['a!', 'b!']],
  ['{"a": 1}.all(k, k == "a")', true],
  ['[[1, 2], [3]].map(l, l.map(x, x + l.size()))', [[3, 4], [4]]],
  ['[1].map(x, [2].map(x, x + 1)[0] + x)', [4]],
  ['[].all(x, false) && ![].exists(x, true)', true],
  ['["a", "b"].all(i, v, i < 2 && v < "c")', true],
  ['{"a": 1}.exists(k, v, k == "a" && v == 1)', true],
  ['["a", "a"].existsOne(i, v, i == 1)', true],
  ['["a", "b"].transformList(i, v, string(i) + v)', ['0a', '1b']],
  ['["a", "b"].transformList(i, v, i > 0, v)', ['b']],
  ['{"a": 1, "b": 2}.transformMap(k, v, v * 2)', { a: 2, b: 4 }],
  ['{"a": 1, "b": 2}.transformMap(k, v, v > 1, v * 2)', { b: 4 }],
  ['{"a": "x"}.transformMapEntry(k, v, {v: k})', { x: 'a' }],
  ['{"a": "x", "b": "x"}.transformMapEntry(k, v, {v: k})', 'error: insert failed: key x already exists'],
  ['cel.bind(x, n * 2, x + x)', 28],
  ['cel.bind(x, 1 / 0, true || x > 1)', true],
  ['["bb", "a", "ccc"].sortBy(x, x.size())', ['a', 'bb', 'ccc']],
]);

table('optionals', [
  ['optional.of(1).hasValue() && !optional.none().hasValue()', true],
  ['optional.ofNonZeroValue(0).hasValue()', false],
  ['optional.none().orValue(5)', 5],
  ['optional.of(1).or(optional.of(1 / 0)).value()', 1],
  ['optional.none().value()', 'error: optional.none() dereference'],
  ['d.?a.orValue(9)', 1],
  ['d.?nope.orValue(9)', 9],
  ['d.?nope.deeper.orValue(9)', 9],
  ['d.?b.c.value()', 'x'],
  ['has(d.?b.c) && !has(d.?nope.c)', true],
  ['d.list[?9].orValue("none")', 'none'],
  ['{"k": 1}[?"k"].value()', 1],
  ['optional.of([1, 2])[1].value()', 2],
  ['[?optional.of(1), ?optional.none()]', [1]],
  ['{?"a": optional.none(), "b": 1}', { b: 1 }],
  ['optional.of(2).optMap(x, x * 2).value()', 4],
  ['optional.none().optMap(x, x * 2).hasValue()', false],
  ['optional.of(2).optFlatMap(x, optional.none()).hasValue()', false],
  ['[optional.of(1), optional.none()].unwrapOpt()', [1]],
  ['optional.unwrap([optional.of(3)])', [3]],
  ['[1, 2].first().value() + [1, 2].last().value()', 3],
  ['[].first().hasValue()', false],
  ['optional.of(1) == optional.of(1) && optional.of(1) != optional.none()', true],
]);

table('timestamps and durations', [
  ['timestamp("2023-02-28T23:59:59.5Z") + duration("500ms")', '2023-03-01T00:00:00Z'],
  ['timestamp("2023-01-01T01:00:00+02:00") == timestamp("2022-12-31T23:00:00Z")', true],
  ['string(timestamp("2023-01-01T01:00:00+02:00"))', '2023-01-01T01:00:00+02:00'],
  ['timestamp("2023-01-02T00:00:00Z") - timestamp("2023-01-01T00:00:00Z") == duration("24h")', true],
  ['duration("1h") + duration("30m")', '5400s'],
  ['-dyn(duration("1s")) == duration("-1s")', true],
  ['string(duration("1.5ms"))', '0.0015s'],
  ['duration("90m").getHours() + duration("90m").getMinutes()', 91],
  ['duration("1500ms").getMilliseconds()', 1500],
  ['timestamp("2024-02-29T12:34:56.789Z").getFullYear()', 2024],
  ['timestamp("2024-02-29T12:34:56.789Z").getMonth()', 1],
  ['timestamp("2024-02-29T12:34:56.789Z").getDate()', 29],
  ['timestamp("2024-02-29T12:34:56.789Z").getDayOfMonth()', 28],
  ['timestamp("2024-03-01T12:34:56.789Z").getDayOfYear()', 60],
  ['timestamp("2024-02-29T12:34:56.789Z").getDayOfWeek()', 4],
  ['timestamp("2024-02-29T12:34:56.789Z").getHours("America/New_York")', 7],
  ['timestamp("2024-02-29T12:34:56.789Z").getMinutes("-01:15")', 19],
  ['timestamp("2024-02-29T12:34:56.789Z").getMilliseconds()', 789],
  ['timestamp("2024-02-29T12:34:56Z").getHours("Nowhere/Land")', 'error: unknown time zone Nowhere/Land'],
  ['timestamp(0)', '1970-01-01T00:00:00Z'],
  ['int(timestamp("1970-01-01T00:01:00Z"))', 60],
  ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'error: timestamp overflow'],
  ['timestamp("2023-01-01T00:00:00Z") < timestamp("2023-01-01T00:00:00.000000001Z")', true],
]);

table('types are values', [
  ['type(1) == int && type(1u) == uint && type(1.0) == double && type("") == string', true],
  ['type([]) == list && type({}) == map && type(null) == null_type && type(b"") == bytes', true],
  ['type(int) == type && type(type(1)) == type', true],
  ['type(timestamp(0)) == google.protobuf.Timestamp', true],
  ['type(optional.none()) == optional_type', true],
]);

describe('a constant part that cannot be worked out', () => {
  test.each([
    ['int("x") == 1', "type conversion error from 'string' to 'int'"],
    ['s.find("[") == ""', 'error parsing regexp: missing closing ]: `[`'],
    ['uint(-1) == 1u', 'unsigned integer overflow'],
  ])('%s makes no program', (expression, message) => {
    expect(compile(expression, { variables: VARIABLES })).toMatchObject({ ok: false, stage: 'program', message });
  });
});

describe('what a variable is not given', () => {
  test('is an error where it is read', () => {
    expect(run('n + 1', {}, {})).toBe('error: no such attribute(s): n');
  });
  test('is no matter where it is not', () => {
    expect(run('true || n > 1', {}, {})).toBe(true);
  });
});

describe('the cost of an evaluation', () => {
  const compiled = (expression: string) => {
    const result = compile(expression, { environment: FULL_ENVIRONMENT, variables: VARIABLES });
    if (!result.ok) throw new Error(result.message);
    return result.program;
  };
  test.each([
    ['n', 1],
    ['d.b.c', 3],
    ['has(d.b.c)', 2],
    ['n == 1', 2],
    ['s.startsWith("te")', 2],
    ['n in [1, 2, 3]', 1],
    ['[n]', 11],
    ['{"a": n}', 31],
    ['n > 1 ? n : 2', 2],
    ['[1, 2, 3].all(x, x > 0)', 16],
    ['[1, 2, 3].exists(x, x > 5)', 19],
    ['[1, 2, 3].map(x, x)', 40],
    ['s.matches("^[a-z]+$")', 3],
  ])('of %s is %i, as upstream counts it', (expression, cost) => {
    expect(compiled(expression).run(DATA).cost).toBe(cost);
  });
  test('ends the evaluation past the limit, and nothing absorbs that', () => {
    const program = compiled('lists.range(1000).exists(x, x < 0) || true');
    expect(program.run(DATA, { costLimit: 100 }).error).toMatchObject({
      kind: 'cost',
      message: 'operation cancelled: actual cost limit exceeded',
    });
    expect(program.run(DATA).value).toBe(true);
  });
  test('is limited to a million unless told', () => {
    const program = compiled('lists.range(300).all(x, lists.range(1000).all(y, y >= 0))');
    expect(program.run(DATA).error?.kind).toBe('cost');
  });
});

describe('expressions made to be large', () => {
  test.each([
    ['chains of macros that use their target twice', `optional.of(1)${'.optMap(x, x)'.repeat(120)}.hasValue()`],
    ['types that double', `[{1: 1}]${'.map(m, {m: m})'.repeat(120)}.size() == 1`],
    ['deep literals', `${'['.repeat(240)}${']'.repeat(240)}.size() == 1`],
    ['long lists', `[${'1,'.repeat(20_000)}].size() > 1`],
  ])('%s compile in no time, and their evaluation is bounded by its cost', (_, expression) => {
    const result = compile(expression);
    expect(result.ok).toBe(true);
    expect(result.program?.estimateCost().max).toBeGreaterThan(0);
    expect(['cost', 'evaluation', undefined]).toContain(result.program?.run({}).error?.kind);
  });
});
