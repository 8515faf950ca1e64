import { describe, expect, test } from 'vitest';
import { identifierFaults } from './identifiers.ts';
import { readSourceTree, sourceFile } from './source-tree.ts';

test('no identifier is a participle without its noun', () => {
  expect(readSourceTree().flatMap(identifierFaults)).toEqual([]);
});

describe('the rule itself', () => {
  test.each([
    ['const found = names.find(isOpen);', 1],
    ['  readonly wanted: number;', 1],
    ['  #taken = new Set();', 1],
    ['function read({ known, name }: Options): void {}', 1],
    ['names.map((given) => given.length);', 1],
    ['names.map(asked => asked.length);', 1],
    ['interface Findings {}', 1],
    ['const foundPods = []; // found', 0],
    ["throw new Error('not found');", 0],
    ['if (pods.found === 1) return;', 0],
  ])('has in %j %d faults', (text, count) => {
    expect(identifierFaults(sourceFile('src/base/a.ts', text))).toHaveLength(count);
  });
});
