import { expect, test } from 'vitest';
import { ExpansionTooLarge, expandVariables } from './expand-variables.ts';

const VARIABLES = new Map([
  ['A', '1'],
  ['B', '$(A)'],
  ['', 'empty'],
]);

test.each([
  ['', ''],
  ['plain', 'plain'],
  ['$(A)', '1'],
  ['x$(A)y$(A)z', 'x1y1z'],
  ['$(B)', '$(A)'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$1'],
  ['$(NONE)', '$(NONE)'],
  ['$()', 'empty'],
  ['$(A', '$(A'],
  ['$(A $(B', '$(A $(B'],
  ['$(A $(A)', '$(A $(A)'],
  ['cost: $5 and $', 'cost: $5 and $'],
  ['$(constructor)', '$(constructor)'],
  ['日$(A)本', '日1本'],
])('%j becomes %j', (text, expanded) => {
  expect(expandVariables(text, VARIABLES, 1000)).toBe(expanded);
});

test('an expansion beyond the size limit fails', () => {
  const variables = new Map([['A', 'x'.repeat(1000)]]);
  expect(expandVariables('$(A)'.repeat(10), variables, 10_000)).toHaveLength(10_000);
  expect(() => expandVariables('$(A)'.repeat(11), variables, 10_000)).toThrow(ExpansionTooLarge);
});

test('a million unterminated $( are scanned once', () => {
  const text = '$('.repeat(1_000_000);
  expect(expandVariables(text, VARIABLES, 10_000_000)).toBe(text);
});
