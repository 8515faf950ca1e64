import { describe, expect, it } from 'vitest';
import { JsonPath, jsonPathText } from './json-path.ts';
import { JsonPathError } from './parse-json-path.ts';

const object = {
  metadata: { name: 'a', labels: { 'x.y/z': 'dotted' }, constructor: 1 },
  spec: { replicas: 3, ok: false, list: ['p', 'q', 'r'], none: null },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', n: 1 },
      { type: 'Progressing', status: 'False', n: 2 },
    ],
  },
};

describe('a JSON path', () => {
  it.each<[string, readonly unknown[]]>([
    ['.spec.replicas', [3]],
    ['.spec.ok', [false]],
    ['.spec.none', [null]],
    ['.spec.missing.deeper', []],
    ['.spec.toString', []],
    ['.', []],
    ["['spec'].replicas", [3]],
    ['.metadata.labels.x\\.y/z', ['dotted']],
    ["..['name']", ['a']],
    ['.spec.list[0]', ['p']],
    ['.spec.list[-1]', ['r']],
    ['.spec.list[0:2]', ['p', 'q']],
    ['.spec.list[::2]', ['p', 'r']],
    ['.spec.list[*]', ['p', 'q', 'r']],
    ['.spec.list[0,2]', ['p', 'r']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ["$.status.conditions[?(@.type == 'Progressing')].n", [2]],
    ['.status.conditions[?(@.n>1)].type', ['Progressing']],
    ['.status.conditions[?(@.n)].type', ['Ready', 'Progressing']],
    ['.status.conditions[?(@.type=="a)b")].status', []],
    ['.status.conditions.*.type', ['Ready', 'Progressing']],
    ['..type', ['Ready', 'Progressing']],
  ])('%s leads to %j', (path, values) => expect(new JsonPath(path).find(object)).toEqual(values));

  it.each([
    ['.spec.list[9]', 'array index out of bounds: index 9, length 3'],
    ['.spec.list[2:1]', 'starting index 2 is greater than ending index 1'],
    ['.spec[0]', 'value is not array or slice'],
    ['.spec[?(@.x)]', 'value is not array or slice and cannot be filtered'],
  ])('%s cannot be followed: %s', (path, message) => {
    expect(() => new JsonPath(path).find(object)).toThrow(new JsonPathError(message));
    expect(new JsonPath(path).first(object)).toBeUndefined();
  });

  it.each(['.a[', '.a[x]', '.a[?(@.b]', '.a[?(@.b=="c', '....a', '.a{', 'range', '"open', '.a\n'])('%j is refused', (path) => {
    expect(() => new JsonPath(path)).toThrow(JsonPathError);
  });

  it('nested without end is refused, not followed', () => {
    expect(() => new JsonPath('[?('.repeat(50))).toThrow(JsonPathError);
  });

  it.each([
    ['text', 'text'],
    [5, '5'],
    [true, 'true'],
    [{ b: [1], a: 'x' }, '{"a":"x","b":[1]}'],
  ])('prints %j as %s', (value, text) => expect(jsonPathText(value)).toBe(text));
});
