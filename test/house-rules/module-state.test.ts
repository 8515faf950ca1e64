import { describe, expect, test } from 'vitest';
import { moduleStateFaults } from './module-state.ts';
import { readSourceTree, sourceFile } from './source-tree.ts';

test('no module holds state that its importers share', () => {
  const files = readSourceTree().filter((file) => !file.isTest);
  expect(files.flatMap(moduleStateFaults)).toEqual([]);
});

describe('the rule itself', () => {
  const faulty: [string, string, string][] = [
    ['a let', 'let count = 0;', 'count can be assigned again'],
    ['an exported let', 'export let current: Foo | undefined;', 'current can be assigned again'],
    ['an empty map', 'const cache = new Map<string, Foo>();', 'cache is empty'],
    ['an empty list', 'const seen: string[] = [];', 'seen is empty'],
    ['an empty object', 'export const registry: Record<string, Foo> = {};', 'registry is empty'],
    ['a stateful part', 'export const metrics = new MetricsRegistry();', 'metrics holds state'],
    ['a global logger', 'const log = createLogger({ clock });', 'log holds state'],
    ['a static counter', 'class A {\n  static #next = 0;\n}', '#next is static'],
    ['a static cache', 'class A {\n  static readonly cache = new Map<string, Foo>();\n}', 'cache is static and empty'],
    [
      'a table that a function adds to',
      'const table = new Map([[1, 2]]);\nfunction add(): void {\n  table.set(3, 4);\n}',
      'table is changed',
    ],
    ['a constant that is none', 'const NONE = [];\nexport function add(): void {\n  NONE.push(1);\n}', 'NONE is changed'],
    ['a list that an arrow adds to', 'const list = [1];\nexport const add = (x: number) => list.push(x);', 'list is changed'],
    ['an object that a method writes', 'const o = { a: 1 };\nclass A {\n  f(): void {\n    o.a = 2;\n  }\n}', 'o is changed'],
  ];
  test.each(faulty)('finds %s', (_name, text, fault) => {
    expect(moduleStateFaults(sourceFile('src/base/a.ts', text))).toEqual([expect.stringContaining(fault)]);
  });

  const fine: [string, string][] = [
    ['a lookup table', "const table = new Map([['a', 1]]);\nexport const find = (k: string) => table.get(k);"],
    ['nothing, as a constant', 'const NO_FIELDS = new Map<string, Field>();\nconst none: ReadonlyMap<string, Field> = new Map();'],
    ['a frozen list', 'export const LIST = Object.freeze([1, 2]);'],
    ['a table that is filled while the module loads', 'const table = new Map([[0, 0]]);\nfor (const n of [1, 2]) table.set(n, n * n);\n'],
    ['a memo of immutable values', 'const memo = new WeakMap<object, string>();\nfunction f(o: object): void {\n  memo.set(o, "x");\n}'],
    ['a local of the same name', 'const names = [1];\nfunction f(): void {\n  const names = [2];\n  names.push(3);\n}'],
    ['a parameter of the same name', 'const names = [1];\nfunction f(names: number[]): void {\n  names.push(3);\n}'],
    ['a let inside a function', 'function f(): number {\n  let x = 0;\n  return ++x;\n}'],
    ['a let inside a template', 'const text = `\nlet x = 0;\n`;'],
    ['a property of the same name', 'const names = [1];\nfunction f(o: Foo): void {\n  o.names.push(3);\n  o.names = [];\n}'],
    ['a comparison', 'const limit = { a: 1 };\nconst f = (x: number) => limit.a === x && limit.a <= x;'],
    ['a static constant', "class A {\n  static readonly NAME = 'a';\n  static create(): A {\n    return new A();\n  }\n}"],
  ];
  test.each(fine)('accepts %s', (_name, text) => {
    expect(moduleStateFaults(sourceFile('src/base/a.ts', text))).toEqual([]);
  });
});
