import { expect, test } from 'vitest';
import type { CliContext } from '../context.ts';
import { flagsWithoutEffect, settingsFromArguments } from './flag-table.ts';

const table = flagsWithoutEffect<object>('there is nothing to profile', { profiling: 'bool', period: 'duration', size: 'count' });

function read(...args: string[]): string[] {
  const notes: string[] = [];
  const context = { note: (line: string) => notes.push(line) } as unknown as CliContext;
  settingsFromArguments(table, args, { initial: {}, context, of: 'the program' });
  return notes;
}

test('a flag without an effect is logged with the reason', () => {
  expect(read('profiling=true')).toEqual(['--profiling has no effect: there is nothing to profile']);
});

test.each([
  ['profiling=maybe', 'invalid argument "maybe" for "--profiling" flag: strconv.ParseBool: parsing "maybe": invalid syntax'],
  ['period=soon', 'invalid argument "soon" for "--period" flag: time: invalid duration "soon"'],
  ['period=60', 'invalid argument "60" for "--period" flag: time: missing unit in duration "60"'],
  ['size=1.5', 'invalid argument "1.5" for "--size" flag: strconv.ParseInt: parsing "1.5": invalid syntax'],
  ['sizes=1', "the program has no flag 'sizes'"],
])('%s is an error all the same', (argument, message) => {
  expect(() => read(argument)).toThrow(message);
});
