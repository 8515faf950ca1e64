import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeFieldValue, FieldSelector, parseFieldSelector } from './field-selector.ts';

describe('a field selector', () => {
  it.each([
    ['', ''],
    ['metadata.name=a', 'metadata.name=a'],
    ['b==1,a!=2', 'a!=2,b=1'],
    [',a=1,,', 'a=1'],
    ['a=x\\,y\\=z\\\\', 'a=x\\,y\\=z\\\\'],
    ['a=', 'a='],
  ])('%j prints as %j', (text, printed) => {
    expect(parseFieldSelector(text).toString()).toBe(printed);
  });

  it.each([
    ['nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ['metadata.name in (a)', "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=b\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  it('takes a field that is not there for empty', () => {
    expect(parseFieldSelector('a=').matches({})).toBe(true);
    expect(parseFieldSelector('a!=1').matches({})).toBe(true);
    expect(parseFieldSelector('constructor=').matches({})).toBe(true);
    expect(parseFieldSelector('a=1,b!=2').matches({ a: '1', b: '2' })).toBe(false);
  });

  it('tells the one value it demands, and can be rewritten', () => {
    const selector = parseFieldSelector('name=x,spec.host!=y');
    expect(selector.requiredValue('name')).toBe('x');
    expect(selector.requiredValue('spec.host')).toBeUndefined();
    const renamed = selector.transform((field, value) => (field === 'name' ? { field: 'metadata.name', value } : undefined));
    expect(renamed.toString()).toBe('metadata.name=x');
    expect(FieldSelector.everything.isEmpty).toBe(true);
  });

  it('matches exactly the value that was escaped into it', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, other) => {
        const selector = parseFieldSelector(`f=${escapeFieldValue(value)}`);
        expect(selector.matches({ f: value })).toBe(true);
        expect(selector.matches({ f: other })).toBe(other === value);
      }),
    );
  });
});
