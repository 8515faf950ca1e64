import { describe, expect, test } from 'vitest';
import { readSourceTree, sourceFile } from './source-tree.ts';
import { spreadCallFaults } from './spread-calls.ts';

test('no call spreads a list over its arguments that may be longer than the stack', () => {
  expect(readSourceTree().flatMap(spreadCallFaults)).toEqual([]);
});

describe('the rule itself', () => {
  test.each([
    ['errors.push(...validate(path, { a: [1] }));', 1],
    ['const max = Math.max(0, ...list.map((item) => item.size));', 1],
    ['// bounded: spread lists have two items\nconst max = Math.max(...list);', 1],
    ['return new Path(a, ...(b ? [c] : []));', 1],
    ['// bounded: spread lists are the bytes of a number\nreturn bytes(0x1f, ...little(value));', 0],
    ['const all = [...first, ...second];', 0],
    ['const all = { ...first, b: f({ ...second }), c: f([...third]) };', 0],
    ['function of(...names: readonly string[]): Path {}', 0],
    ['const f: F = (...args) => args.length;', 0],
    ['for (const item of [...list]) f(item);', 0],
  ])('finds in %j %d faults', (text, count) => {
    expect(spreadCallFaults(sourceFile('src/base/a.ts', text))).toHaveLength(count);
  });
});
