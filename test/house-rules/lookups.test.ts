import { describe, expect, test } from 'vitest';
import { readSourceTree, type SourceFile, sourceFile } from './source-tree.ts';

/** A constant lookup table written as an object literal: looking up `constructor` or `__proto__` would find inherited members. */
const PLAIN_TABLE =
  /^(?:export )?const (\w+): (?:Readonly<)?(?:Partial<)?Record<string,[^=\n]*(?:=>[^=\n]*)*= (?:Object\.freeze\()?\{(?!\})/gm;

function lookupFaults({ path, code, isTest }: SourceFile): string[] {
  if (isTest) return [];
  return [...code.matchAll(PLAIN_TABLE)].map(([, name]) => `${path}: ${name} is a plain object: use lookupTable() of #base or a Map`);
}

test('tables that strings are looked up in have no prototype', () => {
  expect(readSourceTree().flatMap(lookupFaults)).toEqual([]);
});

describe('the rule itself', () => {
  test.each([
    ["const VERBS: Readonly<Record<string, string>> = { GET: 'get' };", 1],
    ['export const VERBS: Record<string, (a: number) => string> = {\n  GET: f,\n};', 1],
    ["const VERBS = lookupTable<string>({ GET: 'get' });", 0],
    ['const NONE: Readonly<Record<string, string>> = {};', 0],
    ['const values: Record<string, unknown> = Object.create(null);', 0],
  ])('finds in %s %d faults', (text, count) => {
    expect(lookupFaults(sourceFile('src/base/a.ts', text))).toHaveLength(count);
  });
});
