import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeYaml } from './encode-yaml.ts';
import { parseYaml } from './parse-yaml.ts';
import { compareYamlKeys } from './yaml-key-order.ts';

describe('a string in YAML', () => {
  it.each([
    ['plain', 'plain'],
    ['configmaps "x" not found', 'configmaps "x" not found'],
    ['a: b', "'a: b'"],
    ["it's: so", "'it''s: so'"],
    ['- a', "'- a'"],
    ['-a', '-a'],
    ['a #b', "'a #b'"],
    ['a#b', 'a#b'],
    ['*', "'*'"],
    ['a:', "'a:'"],
    ['a:b', 'a:b'],
    [' a', "' a'"],
    ['a ', "'a '"],
    ['', '""'],
    ['yes', '"yes"'],
    ['null', '"null"'],
    ['~', '"~"'],
    ['1.30', '"1.30"'],
    ['0x1f', '"0x1f"'],
    ['1:30', '"1:30"'],
    ['2026-01-02T03:04:05Z', '"2026-01-02T03:04:05Z"'],
    ['2026-01-02', '"2026-01-02"'],
    ['2026-13-02', '2026-13-02'],
    ['tab\there', '"tab\\there"'],
    ['ünïcode', 'ünïcode'],
    ['🚢', '"\\U0001F6A2"'],
    ['two\nlines\n', '|\n  two\n  lines'],
    ['two\nlines', '|-\n  two\n  lines'],
    ['two\n\n', '|+\n  two\n'],
    [' first\nindented', '|2-\n   first\n  indented'],
    ['space before \nbreak', '"space before \\nbreak"'],
    ['---', "'---'"],
  ])('%j', (text, expected) => {
    expect(encodeYaml({ k: text })).toBe(`k: ${expected}\n`);
    expect(parseYaml(encodeYaml({ k: text })).value).toEqual({ k: text });
  });

  const long = `${'word '.repeat(20)}end`;
  it.each([
    ['plain', long, `k: ${'word '.repeat(15)}word\n  ${'word '.repeat(4)}end\n`],
    ['quoted', `a: ${long}`, `k: 'a: ${'word '.repeat(15).trim()}\n  ${'word '.repeat(5)}end'\n`],
    ['doubly quoted', `\t${long}`, `k: "\\t${'word '.repeat(16).trim()}\n  ${'word '.repeat(4)}end"\n`],
  ])('that is long and %s is folded at spaces', (_, text, expected) => {
    expect(encodeYaml({ k: text })).toBe(expected);
    expect(parseYaml(encodeYaml({ k: text })).value).toEqual({ k: text });
  });

  it('is folded where it stands', () => {
    const text = 'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope';
    expect(encodeYaml({ message: text })).toBe(
      `message: 'nodes is forbidden: User "alice" cannot list resource "nodes" in API group\n  "" at the cluster scope'\n`,
    );
  });
});

describe('YAML', () => {
  it('nests lists and maps', () => {
    const value = { a: [1, { b: 'x', c: ['y', []] }, [['z'], {}]], d: { e: { f: null } }, g: [], h: 1.5, i: 1e21 };
    expect(encodeYaml(value)).toBe(
      'a:\n- 1\n- b: x\n  c:\n  - "y"\n  - []\n- - - z\n  - {}\nd:\n  e:\n    f: null\ng: []\nh: 1.5\ni: 1e+21\n',
    );
  });

  it('writes long keys apart', () => {
    const key = 'k'.repeat(129);
    expect(encodeYaml({ [key]: { a: 1 } })).toBe(`? ${key}\n: a: 1\n`);
  });

  it('orders keys with an eye for numbers', () => {
    const keys = ['a10', 'a2', 'B', 'a', '1', 'a/b', 'a01', 'b', '-x', '10', '2'];
    expect(keys.sort(compareYamlKeys)).toEqual(['-x', '1', '2', '10', 'B', 'a', 'a/b', 'a01', 'a2', 'a10', 'b']);
  });

  it('is read back as it was written, whatever it holds', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(' ', 'a', '\n', "'", '"', ':', '#', '-', '\t', '\\', 'é'), maxLength: 200 }),
    );
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(text, tie('node'), { maxKeys: 4 }),
      ),
    })).node;
    fc.assert(
      fc.property(fc.record({ value }), (plain) => {
        expect(JSON.parse(JSON.stringify(parseYaml(encodeYaml(plain)).value))).toEqual(JSON.parse(JSON.stringify(plain)));
      }),
      { numRuns: 1000 },
    );
  });
});
