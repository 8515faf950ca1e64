import { expect, test } from 'vitest';
import { goBoolean, goInteger, goNumber } from './go-values.ts';

test.each([
  ['1', true],
  ['T', true],
  ['TRUE', true],
  ['0', false],
  ['f', false],
  ['False', false],
])('%s is the boolean %s', (text, value) => {
  expect(goBoolean(text)).toBe(value);
});

test.each([
  ['6443', 6443],
  ['0x10', 16],
  ['0b11', 3],
  ['0o17', 15],
  ['017', 15],
  ['0', 0],
  ['-5', -5],
  ['+5', 5],
  ['1_000', 1000],
  ['0x_ff', 255],
])('%s is the integer %s', (text, value) => {
  expect(goInteger(text)).toBe(value);
});

test.each([
  ['0.5', 0.5],
  ['1e3', 1000],
  ['-2', -2],
  ['.5', 0.5],
])('%s is the number %s', (text, value) => {
  expect(goNumber(text)).toBe(value);
});

test.each([
  [goBoolean, 'yes', 'strconv.ParseBool: parsing "yes": invalid syntax'],
  [goInteger, '', 'strconv.ParseInt: parsing "": invalid syntax'],
  [goInteger, '1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
  [goInteger, '1__0', 'strconv.ParseInt: parsing "1__0": invalid syntax'],
  [goInteger, '08', 'strconv.ParseInt: parsing "08": invalid syntax'],
  [goInteger, '9999999999999999999999', 'strconv.ParseInt: parsing "9999999999999999999999": value out of range'],
  [goNumber, 'x', 'strconv.ParseFloat: parsing "x": invalid syntax'],
  [goNumber, '1e999', 'strconv.ParseFloat: parsing "1e999": value out of range'],
])('%o of %j is an error of Go', (parse, text, message) => {
  expect(() => parse(text)).toThrow(message);
});
