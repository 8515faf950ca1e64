import { expect, test } from 'vitest';
import { goParseIntError } from './go-parse-int.ts';

test.each([
  ['0', undefined],
  ['+7', undefined],
  ['-9223372036854775808', undefined],
  ['9223372036854775807', undefined],
  ['9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  ['', 'strconv.ParseInt: parsing "": invalid syntax'],
  ['1_000', 'strconv.ParseInt: parsing "1_000": invalid syntax'],
  ['a"b', 'strconv.ParseInt: parsing "a\\"b": invalid syntax'],
])('%j is read as Go reads it', (text, message) => {
  expect(goParseIntError(text)).toBe(message);
});
