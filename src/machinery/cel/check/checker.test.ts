import { describe, expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { BOOL, DYN, INT, listType, mapType, NULL, objectType, optionalType, STRING, TIMESTAMP } from '../types.ts';

const INNER = objectType('example.Inner', { text: STRING, count: INT });
const SELF = objectType('example.Self', {
  inner: INNER,
  list: listType(STRING),
  map: mapType(STRING, INT),
  when: TIMESTAMP,
  anything: DYN,
  flag: BOOL,
});
const VARIABLES = { self: SELF, maybe: optionalType(SELF), 'qualified.name': INT };

function messageOf(expression: string): string {
  const result = compile(expression, { variables: VARIABLES });
  return result.ok ? 'ok' : result.message;
}

describe('errors name the place and the problem as upstream does', () => {
  test.each([
    ['self == 5', 6, "found no matching overload for '_==_' applied to '(example.Self, int)'"],
    ['x', 1, "undeclared reference to 'x' (in container '')"],
    ['self.nope', 5, "undefined field 'nope'"],
    ['self.inner.text + 1', 17, "found no matching overload for '_+_' applied to '(string, int)'"],
    ['self.flag.x', 10, "type 'bool' does not support field selection"],
    ['self.list.all(x, x)', 18, "expected type 'bool' but found 'string'"],
    ['self.inner.count.map(x, x)', 11, "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
    ['self.inner.text.size(1)', 21, "found no matching overload for 'size' applied to 'string.(int)'"],
    ['self.flag && self.inner.count', 24, "expected type 'bool' but found 'int'"],
    ['self.inner.text == null', 17, "found no matching overload for '_==_' applied to '(string, null)'"],
    ['[1, "a"]', 5, "expected type 'int' but found 'string'"],
    ['{"a": 1, "b": "c"}', 15, "expected type 'int' but found 'string'"],
    ['[?1]', 3, "expected type 'optional_type(int)' but found 'int'"],
    ['nope(1)', 5, "undeclared reference to 'nope' (in container '')"],
    ['self.when + 1', 11, "found no matching overload for '_+_' applied to '(timestamp, int)'"],
    ['self.list[true]', 10, "found no matching overload for '_[_]' applied to '(list(string), bool)'"],
    ['self.inner{}', 11, "undeclared reference to 'self.inner' (in container '')"],
    ['int{}', 4, "'int' is not a message type"],
    ['duration("x")', 10, 'invalid duration argument'],
    ['timestamp("x")', 11, 'invalid timestamp argument'],
    ['self.inner.text.matches("[")', 25, 'invalid matches argument'],
    ['"%d".format(["a"])', 14, 'error during formatting: decimal clause can only be used on integers, was given string'],
    ['"%s".format([1, 2])', 12, 'too many arguments supplied to string.format (expected 1, got 2)'],
    ['"%z".format([1])', 12, 'could not parse formatting clause: unrecognized formatting clause "z"'],
    ['has(self)', 5, 'invalid argument to has() macro'],
    ['[1].all(1, true)', 9, 'argument must be a simple name'],
    ['[1].map(1, true)', 9, 'argument is not an identifier'],
    ['[1].all(x, x, true)', 12, 'duplicate variable name: x'],
    ['[1].map(__result__, 1)', 9, 'iteration variable overwrites accumulator variable'],
    ['optional.of(1).optMap(1, 2)', 23, 'optMap() variable name must be a simple identifier'],
  ])('%s', (expression, column, message) => {
    const pointer = `${'.'.repeat(column - 1)}^`;
    expect(messageOf(expression)).toBe(`ERROR: <input>:1:${column}: ${message}\n | ${expression}\n | ${pointer}`);
  });

  test('all of them, in the order of their places', () => {
    expect(messageOf('b + a\n && c')).toBe(
      [
        "ERROR: <input>:1:1: undeclared reference to 'b' (in container '')\n | b + a\n | ^",
        "ERROR: <input>:1:5: undeclared reference to 'a' (in container '')\n | b + a\n | ....^",
        "ERROR: <input>:2:5: undeclared reference to 'c' (in container '')\n |  && c\n | ....^",
      ].join('\n'),
    );
  });

  test('with wide marks under wide characters', () => {
    expect(messageOf('"é" + a')).toBe("ERROR: <input>:1:7: undeclared reference to 'a' (in container '')\n | \"é\" + a\n | .．....^");
  });
});

describe('what fits', () => {
  test.each([
    'self.inner == self.inner',
    'self.inner == null',
    'self.when > timestamp("2020-01-01T00:00:00Z") - duration("1h")',
    'self.anything.deep.deeper + 1 == 2',
    'self.list.filter(x, x.startsWith("a")).size() > self.map["k"]',
    'self.list + ["a"] == self.list',
    'self.map.all(k, k.size() > 1)',
    'self.list.all(i, v, i >= 0 && v != "")',
    '[] == self.list && {} == self.map',
    'maybe.?inner.text.orValue("x") == "y"',
    'maybe.inner.?count == optional.none()',
    'qualified.name > 1',
    '[dyn(1), dyn("a")].size() == 2',
    '"%s %d".format(["a", 1]) == "a 1"',
    'type(self.anything) == int ? self.anything < 5 : self.anything == "5%"',
    '1 < 1.5 && 1u < 2',
    '[1, 2].map(x, [x]).flatten() == [1, 2]',
  ])('%s', (expression) => {
    expect(messageOf(expression)).toBe('ok');
  });
});

describe('the result', () => {
  const outputOf = (expression: string) => compile(expression, { variables: VARIABLES }).program?.outputType;
  test.each([
    ['self.list.map(x, x.size())', listType(INT)],
    ['self.map', mapType(STRING, INT)],
    ['self.?flag', optionalType(BOOL)],
    ['true ? self.anything : 1', DYN],
    ['null', NULL],
  ])('of %s has its type', (expression, type) => {
    expect(outputOf(expression)).toMatchObject({ kind: type.kind, name: type.name });
    expect(outputOf(expression)?.params.map(({ name }) => name)).toEqual(type.params.map(({ name }) => name));
  });
  test('must be of a type that is wanted', () => {
    expect(compile('1', { resultTypes: [BOOL] })).toMatchObject({ stage: 'result', message: 'must evaluate to bool but got int' });
    expect(compile('1', { resultTypes: [STRING, NULL] })).toMatchObject({
      message: 'must evaluate to one of [string null_type] but got int',
    });
    expect(compile('"a"', { resultTypes: [STRING, NULL] }).ok).toBe(true);
  });
});
