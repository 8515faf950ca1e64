import { expect, it } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import { encodeYaml } from './encode-yaml.ts';
import { parseYaml } from './parse-yaml.ts';

function nested(depth: number, innermost: JsonValue): JsonValue {
  let value = innermost;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? { a: value } : [value];
  return value;
}

it('YAML of moderate depth is indented', () => {
  expect(encodeYaml(nested(3, 1))).toBe('a:\n- a: 1\n');
});

it('deep YAML is written on one line and read back unchanged', () => {
  const value = nested(
    900,
    Array.from({ length: 3000 }, (_, i) => `x\u2028\u0085${i}`),
  );
  const text = encodeYaml(value);
  expect(text.split('\n').length).toBeLessThan(20);
  expect(parseYaml(text).value).toEqual(value);
});

it('YAML of any depth is written', () => {
  expect(encodeYaml(nested(10_000, 1)).length).toBeLessThan(100_000);
});
