import { describe, expect, it } from 'vitest';
import type { Field, ObjectSchema, Schema } from '../schema.ts';
import { diffText, diffValues } from './object-diff.ts';
import { deepEqual, semanticEqual } from './semantic-equal.ts';

function object(fields: Record<string, Schema>, presence: Field['presence'] = 'nonzero'): ObjectSchema {
  const list: Field[] = Object.entries(fields).map(([name, schema], i) => ({
    name,
    schema,
    description: '',
    presence,
    required: false,
    patchStrategies: [],
    number: i + 1,
  }));
  const fieldsByName = new Map(list.map((field) => [field.name, field]));
  return { type: 'object', name: 'X', description: '', fields: list, fieldsByName, atomic: false, preserveUnknown: false };
}

describe('equality', () => {
  it.each([
    [undefined, null, true],
    [[], undefined, true],
    [{}, null, true],
    [{ a: [] }, {}, true],
    [{ a: 1 }, { a: 1, b: {} }, true],
    [{ a: 1 }, { a: 2 }, false],
    [[1, 2], [2, 1], false],
    [0, undefined, false],
    [5n, 5, true],
    ['1', 1, false],
    [{ a: null }, { a: 1 }, false],
  ])('%# %o and %o: %s', (a, b, equal) => {
    expect(deepEqual(a, b)).toBe(equal);
    expect(deepEqual(b, a)).toBe(equal);
  });

  it('compares quantities by value and times by instant where the schema says so', () => {
    const schema = object({ q: { type: 'quantity' }, t: { type: 'time' }, s: { type: 'string' } });
    expect(semanticEqual({ q: '1000m', t: '2024-01-01T00:00:00Z' }, { q: '1', t: '2024-01-01T01:00:00+01:00' }, schema)).toBe(true);
    expect(semanticEqual({ s: '1000m' }, { s: '1' }, schema)).toBe(false);
    expect(semanticEqual({ q: 'x' }, { q: 'y' }, schema)).toBe(false);
  });

  it('takes a zero for a field that is left out, unless the field tells them apart', () => {
    const omitted = object({ n: { type: 'int32' }, o: object({ b: { type: 'bool' } }) });
    expect(semanticEqual({ n: 0, o: { b: false } }, {}, omitted)).toBe(true);
    expect(semanticEqual({ n: 1 }, {}, omitted)).toBe(false);
    expect(semanticEqual({ n: 0 }, {}, object({ n: { type: 'int32' } }, 'set'))).toBe(false);
  });

  it('looks into lists and maps', () => {
    const quantity: Schema = { type: 'quantity' };
    const list: Schema = { type: 'list', items: quantity, listType: 'atomic', keys: [] };
    const map: Schema = { type: 'map', values: quantity, atomic: false };
    expect(semanticEqual(['1k', '1'], ['1000', '1000m'], list)).toBe(true);
    expect(semanticEqual(undefined, [], list)).toBe(true);
    expect(semanticEqual({ cpu: '1' }, { cpu: '1000m' }, map)).toBe(true);
    expect(semanticEqual({ cpu: '1' }, { mem: '1' }, map)).toBe(false);
  });
});

describe('differences', () => {
  it('name the smallest places that differ', () => {
    const differences = diffValues({ a: { b: [1, 2], c: 1 } }, { a: { b: [1, 3, 4], d: 2 } });
    expect(differences.map(({ path, before, after }) => [String(path), before, after])).toEqual([
      ['a.b[1]', 2, 3],
      ['a.b[2]', undefined, 4],
      ['a.c', 1, undefined],
      ['a.d', undefined, 2],
    ]);
  });

  it('print as a unified diff', () => {
    const before = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 };
    expect(diffText(before, { ...before, e: 9 })).toBe(
      '@@ -3,7 +3,7 @@\n  "b": 2,\n  "c": 3,\n  "d": 4,\n- "e": 5,\n+ "e": 9,\n  "f": 6,\n  "g": 7,\n  "h": 8\n',
    );
    expect(diffText(before, before)).toBe('');
  });

  it('print far changes as separate hunks', () => {
    const before = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i]));
    const text = diffText(before, { ...before, k1: 'x', k18: 'y' });
    expect(text.match(/^@@.*@@$/gm)).toEqual(['@@ -1,6 +1,6 @@', '@@ -17,6 +17,6 @@']);
  });
});
