import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelSelectorText, labelsText, Selector, selectorFromObject, selectorToObject } from './label-selector.ts';
import { parseLabelSelector } from './label-selector-parser.ts';

describe('parsing a label selector', () => {
  it.each([
    ['', ''],
    ['a=b', 'a=b'],
    ['a==b', 'a==b'],
    [' a = b , c != d ', 'a=b,c!=d'],
    ['b=1,a=2', 'a=2,b=1'],
    ['x in (b,a,b)', 'x in (a,b)'],
    ['x notin (a)', 'x notin (a)'],
    ['x', 'x'],
    ['!x', '!x'],
    ['x>1,y<2', 'x>1,y<2'],
    ['x=', 'x='],
    ['x=,y=', 'x=,y='],
    ['x in ()', 'x in ()'],
    ['x in (,a)', 'x in (,a)'],
    ['x in (a,,b)', 'x in (,a,b)'],
    ['x in (a,)', 'x in (,a)'],
    ['in in (in,notin)', 'in in (in,notin)'],
    ['example.com/a.b_c', 'example.com/a.b_c'],
  ])('%j prints as %j', (text, printed) => {
    expect(parseLabelSelector(text).toString()).toBe(printed);
  });

  it.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in web', "unable to parse requirement: found 'web' expected: '('"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['!!a', "unable to parse requirement: found '!', expected: identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (=', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a in (b,=', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a=b,,', "found ',', expected: identifier after ','"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a==(b)', "unable to parse requirement: found '(', expected: identifier"],
    ['x>y', `unable to parse requirement: values[0]: Invalid value: "y": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['x=-', 'unable to parse requirement: values[0][x]: Invalid value: "-": a valid label must be an empty string or consist of'],
    ['a/b/c', 'unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });
});

describe('matching', () => {
  it.each([
    ['', {}, true],
    ['a=b', { a: 'b' }, true],
    ['a=b', {}, false],
    ['a!=b', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b,c)', { a: 'c' }, true],
    ['a in (b,c)', { a: 'd' }, false],
    ['a notin (b,c)', {}, true],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['constructor', {}, false],
    ['toString!=x', {}, true],
    ['a>5', { a: '6' }, true],
    ['a>5', { a: '5' }, false],
    ['a<5', { a: '-1' }, true],
    ['a<5', { a: 'x' }, false],
    ['a<9223372036854775807', { a: '9223372036854775806' }, true],
    ['a=1,b=2,c=3', { a: '1', b: '2', c: '3' }, true],
    ['a=1,b=2,c=3', { a: '1', b: '2', c: '4' }, false],
  ])('%j on %j is %s', (text, labels, expected) => {
    expect(parseLabelSelector(text).matches(labels as Record<string, string>)).toBe(expected);
  });

  it('takes an object without labels', () => {
    expect(Selector.everything.matches(undefined)).toBe(true);
    expect(Selector.nothing.matches(undefined)).toBe(false);
    expect(Selector.fromLabels({ a: 'b' }).matches(undefined)).toBe(false);
  });

  it('tells the one value it demands', () => {
    const selector = parseLabelSelector('a=1,b in (2),c in (3,4),d!=5');
    expect(['a', 'b', 'c', 'd'].map((key) => selector.requiredValue(key))).toEqual(['1', '2', undefined, undefined]);
  });
});

describe('the object form', () => {
  it('selects nothing when absent, everything when empty', () => {
    expect(selectorFromObject(undefined).matches({})).toBe(false);
    expect(selectorFromObject({}).matches({})).toBe(true);
  });

  it('combines labels and expressions', () => {
    const object = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'x', operator: 'In', values: ['2', '1'] }] };
    const selector = selectorFromObject(object);
    expect(selector.toString()).toBe('a=b,x in (1,2)');
    expect(selectorToObject(selector)).toEqual(object);
    expect(labelSelectorText(object)).toBe('a=b,x in (1,2)');
  });

  it('refuses what it does not know', () => {
    expect(() => selectorFromObject({ matchExpressions: [{ key: 'x', operator: 'Near' }] })).toThrow(
      '"Near" is not a valid label selector operator',
    );
    expect(labelSelectorText({ matchExpressions: [{ key: 'x', operator: 'In' }] })).toBe('<error>');
    expect(labelSelectorText({})).toBe('<none>');
    expect(() => selectorToObject(parseLabelSelector('a>1'))).toThrow();
  });

  it('prints labels sorted', () => {
    expect(labelsText({ b: '2', a: '1' })).toBe('a=1,b=2');
  });
});

describe('properties', () => {
  const key = fc.constantFrom('a', 'b', 'app', 'example.com/x');
  const value = fc.constantFrom('', '1', '2', 'web', 'in');
  const requirement = fc.oneof(
    fc.tuple(key, value).map(([k, v]) => `${k}=${v}`),
    fc.tuple(key, value).map(([k, v]) => `${k}!=${v}`),
    fc.tuple(key, fc.array(value, { minLength: 1, maxLength: 3 })).map(([k, v]) => `${k} in (${v.join(',')})`),
    fc.tuple(key, fc.array(value, { minLength: 1, maxLength: 3 })).map(([k, v]) => `${k} notin (${v.join(',')})`),
    key,
    key.map((k) => `!${k}`),
  );
  const labels = fc.dictionary(key, value);

  it('printing and parsing again selects the same', () => {
    fc.assert(
      fc.property(fc.array(requirement), labels, (parts, set) => {
        const selector = parseLabelSelector(parts.join(','));
        const again = parseLabelSelector(selector.toString());
        expect(again.toString()).toBe(selector.toString());
        expect(again.matches(set)).toBe(selector.matches(set));
      }),
    );
  });

  it('a selector is the conjunction of its parts, and opposites exclude each other', () => {
    fc.assert(
      fc.property(fc.array(requirement), key, value, labels, (parts, k, v, set) => {
        const byPart = parts.every((part) => parseLabelSelector(part).matches(set));
        expect(parseLabelSelector(parts.join(',')).matches(set)).toBe(byPart);
        expect(parseLabelSelector(`${k}=${v}`).matches(set)).toBe(!parseLabelSelector(`${k}!=${v}`).matches(set));
        expect(parseLabelSelector(k).matches(set)).toBe(!parseLabelSelector(`!${k}`).matches(set));
      }),
    );
  });

  it('any text parses or is refused with a SelectorError', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab=!(),<> /in') }), (text) => {
        try {
          parseLabelSelector(text);
        } catch (error) {
          expect((error as Error).name).toBe('SelectorError');
        }
      }),
    );
  });
});
