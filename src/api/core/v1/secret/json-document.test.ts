import { expect, test } from 'vitest';
import { jsonProblem } from './json-document.ts';

const MAP = { type: 'object', goType: 'map[string]interface {}' } as const;

test.each<[string, string | undefined]>([
  ['{}', undefined],
  [' {"a": [1, -2.5e3, true, null, "\\u00e9"]} ', undefined],
  ['null', undefined],
])('finds nothing wrong with %s', (text, problem) => {
  expect(jsonProblem(text, MAP)).toBe(problem);
});

test.each<[string, string]>([
  ['', 'unexpected end of JSON input'],
  ['{a', "invalid character 'a' looking for beginning of object key string"],
  ['{"a"', 'unexpected end of JSON input'],
  ['{"a":1', 'unexpected end of JSON input'],
  ['{"a":1 2}', "invalid character '2' after object key:value pair"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['tru', 'unexpected end of JSON input'],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['01', "invalid character '1' after top-level value"],
  ['-', 'unexpected end of JSON input'],
  ['1.', 'unexpected end of JSON input'],
  ['1e', 'unexpected end of JSON input'],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12"', "invalid character '\"' in \\u hexadecimal character escape"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['[]', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ['1', 'json: cannot unmarshal number into Go value of type map[string]interface {}'],
  ['"text"', 'json: cannot unmarshal string into Go value of type map[string]interface {}'],
])('words what is wrong with %s as Go does', (text, problem) => {
  expect(jsonProblem(text, MAP)).toBe(problem);
});
