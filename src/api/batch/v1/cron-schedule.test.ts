import { expect, test } from 'vitest';
import { parseCronSchedule } from './cron-schedule.ts';
import { countIndexes, firstSharedIndex } from './index-list.ts';

test.each<[string, readonly number[]]>([
  ['5 * * * *', [5]],
  ['*/20 * * * *', [0, 20, 40]],
  ['50/5 * * * *', [50, 55]],
  ['1,3-5 * * * *', [1, 3, 4, 5]],
  ['10-20/5 * * * *', [10, 15, 20]],
  ['@hourly', [0]],
])('minutes of %s are %j', (text, minutes) => {
  expect(parseCronSchedule(text)).toMatchObject({ minutes: new Set(minutes) });
});

test('cron months and days have names, and a star differs from the list of all values', () => {
  const schedule = parseCronSchedule('0 0 * JAN,mar-apr sun');
  expect(schedule).toMatchObject({ months: new Set([1, 3, 4]), daysOfWeek: new Set([0]), anyDayOfMonth: true, anyDayOfWeek: false });
  expect(parseCronSchedule('0 0 1-31 * ?')).toMatchObject({ anyDayOfMonth: false, anyDayOfWeek: true });
});

test('intervals are whole seconds, and at least one', () => {
  expect(parseCronSchedule('@every 90s')).toEqual({ every: 90_000_000_000n });
  expect(parseCronSchedule('@every 1.5s')).toEqual({ every: 1_000_000_000n });
  expect(parseCronSchedule('@every 10ms')).toEqual({ every: 1_000_000_000n });
});

test('a cron schedule may set its time zone', () => {
  expect(parseCronSchedule('CRON_TZ=Europe/Berlin 0 0 * * *')).toMatchObject({ timeZone: 'Europe/Berlin', hours: new Set([0]) });
});

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['every day', 'expected exactly 5 fields, found 2: [every day]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['TZ=Nowhere/Land 0 0 * * *', 'provided bad location Nowhere/Land: unknown time zone Nowhere/Land'],
  ['TZ=UTC', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
])('%s is refused', (text, message) => {
  expect(() => parseCronSchedule(text)).toThrow(message);
});

test('indexes are counted, in increasing order', () => {
  expect(countIndexes('', 5)).toBe(0);
  expect(countIndexes('0,2-4', 5)).toBe(4);
  expect(() => countIndexes('2-4', 4)).toThrow('too large index: "4"');
  expect(() => countIndexes('3,1', 5)).toThrow('non-increasing order, previous: 3, current: 1');
  expect(() => countIndexes('a', 5)).toThrow('cannot convert string to integer for index: "a"');
  expect(() => countIndexes('1-2-3', 5)).toThrow('violates the requirement');
});

test('overlapping index lists are detected', () => {
  expect(firstSharedIndex('0-2,6', '3-5', 10)).toBeUndefined();
  expect(firstSharedIndex('0-2,6', '4-7', 10)).toBe(6);
});
