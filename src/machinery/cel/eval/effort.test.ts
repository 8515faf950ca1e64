import { describe, expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { DYN, listType, STRING } from '../types.ts';

const list = Array.from({ length: 20_000 }, (_, i) => i);
const map = Object.fromEntries(list.map((i) => [`k${i}`, i]));
const DATA = { list, map, nested: { list }, text: 'a'.repeat(1_000_000), three: [1, 2, 3] };
const variables = { list: DYN, map: DYN, nested: DYN, text: DYN, three: DYN };

function run(expression: string) {
  const result = compile(expression, { variables });
  if (!result.ok) throw new Error(result.message);
  return result.program.run(DATA);
}

describe('an expression ends that costs little by the rules of upstream and looks at millions of values', () => {
  test.each([
    'list.all(x, list.filter(y, false).size() == 0)',
    'list.all(x, !list.exists_one(y, false))',
    'list.all(x, map.transformMap(k, v, false, v).size() == 0)',
    'list.all(x, (list + [x]).size() > 0)',
    'list.all(x, list == list)',
    'list.all(x, nested == nested)',
    'list.all(x, {"a": list} == {"a": list})',
    'list.all(x, !(-1 in list))',
    'list.all(x, text < text + "b")',
    'list.all(x, text.size() > 0)',
  ])('%s', (expression) => {
    expect(run(expression).error).toMatchObject({ kind: 'cost' });
  });
});

test('what a function costs by its arguments is compared with the limit before it runs', () => {
  const { error, cost } = run('list.distinct().size() > 0');
  expect([error?.kind, cost > 20_000 ** 2]).toEqual(['cost', true]);
});

test.each([
  ['three.all(x, x in list && list.filter(y, y < 3).size() == 3)'],
  ['list.all(x, map.size() == 20000)'],
  ['three.all(x, list == list && nested == nested && text.size() == 1000000)'],
])('%s is evaluated', (expression) => {
  expect(run(expression).error).toBeUndefined();
});

describe('lists that are sets by their declaration', () => {
  const SET = listType(STRING, { listKind: 'set' });
  const strings = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `s${from + i}`);
  const evaluated = (expression: string, sets: { a: readonly unknown[]; b: readonly unknown[] }) => {
    const result = compile(expression, { variables: { a: SET, b: SET } });
    if (!result.ok) throw new Error(result.message);
    return result.program.evaluate(sets);
  };

  test('are added and compared by lookup', () => {
    const sets = { a: strings(200_000), b: strings(200_000, 100_000) };
    expect(evaluated('(a + b).size() == 300000', sets)).toBe(true);
    expect(evaluated('a == b', sets)).toBe(false);
    expect(evaluated('a == b', { a: sets.a, b: sets.a.toReversed() })).toBe(true);
  });
});
