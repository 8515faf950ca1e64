import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeDeepJson } from './encode-deep-json.ts';
import { encodeJson } from './encode-json.ts';
import { indentJson } from './indent-json.ts';
import type { JsonValue } from './json-value.ts';

function nested(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? { a: value } : [value];
  return value;
}

describe('indented JSON', () => {
  it('is what JSON.stringify writes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))));
  });

  it('of a member is what it is inside of its object', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(`[\n  ${indentJson(JSON.stringify(value), 1)}\n]`).toBe(JSON.stringify([value], null, 2));
      }),
    );
  });

  it('stays on one line where its indentation would be many times its length', () => {
    const text = encodeJson(nested(10_000));
    expect(indentJson(text)).toBe(text);
  });

  it('of a value of modest depth is indented', () => {
    expect(indentJson(encodeJson(nested(500)))).toContain('\n    ');
  });
});

describe('JSON of any depth', () => {
  it('is what JSON.stringify writes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void expect(encodeDeepJson(value as JsonValue)).toBe(JSON.stringify(value))));
  });

  it('leaves out members without a value', () => {
    expect(encodeDeepJson({ a: undefined, b: [null], c: 1 } as unknown as JsonValue)).toBe('{"b":[null],"c":1}');
  });

  it('is written beyond what the stack holds', () => {
    expect(encodeJson(nested(20_000))).toHaveLength(80_001);
  });

  it('has exact integers', () => {
    expect(encodeJson({ a: 9_007_199_254_740_993n, b: [2n] })).toBe('{"a":9007199254740993,"b":[2]}');
  });
});
