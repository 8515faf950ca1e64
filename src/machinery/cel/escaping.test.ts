import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeIdentifier, unescapeIdentifier } from './escaping.ts';

describe('names of properties as identifiers', () => {
  test.each([
    ['name', 'name'],
    ['_a1', '_a1'],
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['namespace', '__namespace__'],
    ['in', '__in__'],
    ['inside', 'inside'],
    ['-', '__dash__'],
  ])('%s is %s', (name, identifier) => {
    expect(escapeIdentifier(name)).toBe(identifier);
    expect(unescapeIdentifier(identifier)).toBe(name);
  });
  test.each(['', '1a', 'a b', 'é', '$ref', 'a:b'])('%j cannot be one', (name) => {
    expect(escapeIdentifier(name)).toBeUndefined();
  });
  test.each(['a__nope__b', 'x__in__'])('%s is no escaped name', (identifier) => {
    expect(unescapeIdentifier(identifier)).toBeUndefined();
  });
  test('come back as they were', () => {
    const names = fc.stringMatching(/^[a-zA-Z_./-][a-zA-Z0-9_./-]{0,12}$/).filter((name) => !/___/.test(name) && !name.endsWith('_'));
    fc.assert(
      fc.property(names, (name) => {
        const identifier = escapeIdentifier(name);
        expect(identifier).toMatch(/^[a-zA-Z_][a-zA-Z0-9_]*$/);
        expect(unescapeIdentifier(identifier ?? '')).toBe(name);
      }),
    );
  });
});
