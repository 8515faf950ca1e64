import { expect, it } from 'vitest';
import { intValue, isPercent, parseIntOrString, scaledIntOrPercent } from './int-or-string.ts';

it.each([
  [5, 10, 'up', 5],
  ['25%', 10, 'up', 3],
  ['25%', 10, 'down', 2],
  ['0%', 10, 'up', 0],
  ['100%', 7, 'down', 7],
] as const)('%s of %d rounded %s is %d', (value, total, rounding, expected) => {
  expect(scaledIntOrPercent(value, total, rounding)).toBe(expected);
});

it('a string that is not a percentage is rejected', () => {
  expect(() => scaledIntOrPercent('5', 1, 'up')).toThrow('invalid value for IntOrString: invalid type: string is not a percentage');
  expect(() => scaledIntOrPercent('x%', 1, 'up')).toThrow(
    'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax',
  );
});

it('an int-or-string is read as a number or a name', () => {
  expect(parseIntOrString('80')).toBe(80);
  expect(parseIntOrString('http')).toBe('http');
  expect(parseIntOrString('3000000000')).toBe('3000000000');
  expect(intValue('12')).toBe(12);
  expect(intValue('x')).toBe(0);
  expect([isPercent('10%'), isPercent('10'), isPercent(10)]).toEqual([true, false, false]);
});
