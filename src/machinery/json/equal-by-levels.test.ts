import { describe, expect, test } from 'vitest';
import { valuesEqual } from '../apply/typed-value.ts';
import { deepEqual } from '../objects/semantic-equal.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { sameJson } from '../patch/same-json.ts';
import { goValue } from '../values/go-format.ts';
import { encodeSortedJson } from './encode-deep-json.ts';
import type { JsonObject, JsonValue } from './json-value.ts';

function nested(levels: number, leaf: JsonValue): JsonObject {
  let value: JsonObject = { a: leaf };
  for (let i = 1; i < levels; i++) value = i % 2 === 0 ? { b: [value], c: i } : { a: value };
  return value;
}

describe.each([
  ['the equality of apply', valuesEqual],
  ['the equality of the API', deepEqual],
  ['the equality of JSON', sameJson],
])('%s', (_name, equal) => {
  test.each([1, 499, 500, 501, 1_001, 10_000])('sees a difference %i levels down', (levels) => {
    expect(equal(nested(levels, 1), nested(levels, 1))).toBe(true);
    expect(equal(nested(levels, 1), nested(levels, 2))).toBe(false);
  });
});

test.each([1, 499, 500, 501, 1_001, 10_000])('a merge patch sets and deletes %i levels down', (levels) => {
  const objects = (leaf: JsonObject) => {
    let value = leaf;
    for (let i = 0; i < levels; i++) value = { a: value, other: 1 };
    return value;
  };
  const before = objects({ x: 1, y: 2 });
  const patched = applyMergePatch(before, objects({ x: null, z: { n: null, m: 3 } }));
  expect(sameJson(patched, objects({ y: 2, z: { m: 3 } }))).toBe(true);
  expect(sameJson(before, objects({ x: 1, y: 2 }))).toBe(true);
});

test('deep values are printed as shallow ones are', () => {
  const value = { b: [1, { c: null }], a: { '10': 'x', '9': true } };
  expect(goValue(value)).toBe('map[a:map[10:x 9:true] b:[1 map[c:<nil>]]]');
  expect(goValue([])).toBe('[]');
  expect(encodeSortedJson(value)).toBe('{"a":{"10":"x","9":true},"b":[1,{"c":null}]}');
  expect(goValue(nested(10_000, 'end'))).toContain('map[a:end]');
  expect(encodeSortedJson(nested(10_000, 'end'))).toContain('{"a":"end"}');
});
