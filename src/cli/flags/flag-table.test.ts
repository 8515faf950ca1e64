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
  ['profiling=maybe', "--profiling: 'maybe' is neither true nor false"],
  ['period=soon', '--period: '],
  ['size=-1', "--size: '-1' is no whole number from 0 on"],
  ['sizes=1', "the program has no flag 'sizes'"],
])('%s is an error all the same', (argument, message) => {
  expect(() => read(argument)).toThrow(message);
});
