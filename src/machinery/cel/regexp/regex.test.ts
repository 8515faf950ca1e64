import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Regex } from './regex.ts';

describe('matching', () => {
  test.each<[pattern: string, matching: string[], other: string[]]>([
    ['abc', ['abc', 'xabcx'], ['ab', 'ABC']],
    ['^a.c$', ['abc', 'a👑c'], ['a\nc', 'abc\n', 'xabc']],
    ['(?s)^a.c$', ['a\nc'], []],
    ['(?i)^straße$', ['STRAßE', 'straße'], ['strasse']],
    ['(?i)k', ['K', '\u212a'], ['l']],
    ['(?m)^b$', ['a\nb\nc'], ['ab']],
    ['^(a|b|)+$', ['', 'abab'], ['abc']],
    ['^(?:a{2,3}|b{2}|c{1,})$', ['aa', 'aaa', 'bb', 'c', 'ccc'], ['a', 'aaaa', 'b']],
    ['^x{0}y$', ['y'], ['xy']],
    ['^[^a-c]$', ['d', '\n', 'é'], ['a', 'b']],
    ['^[]a-]+$', [']a-'], ['b']],
    ['^[\\d\\-x]+$', ['1-x'], ['y']],
    ['^\\w+\\s\\W$', ['a_1 !'], ['a  a']],
    ['^[[:alpha:]]+[[:^digit:]]$', ['abc!'], ['ab1']],
    ['^\\p{Lu}\\pN\\P{L}$', ['É٣-'], ['é1-']],
    ['^\\p{Greek}+$', ['αβγ'], ['abc']],
    ['\\bfoo\\b', ['a foo b', 'foo'], ['afoo', 'foob']],
    ['\\Boo', ['foo'], ['oo']],
    ['\\Aa\\z', ['a'], ['a\n', 'ba']],
    ['^\\x41\\x{1F451}\\101$', ['A👑A'], ['AA']],
    ['^\\Qa.b*\\E$', ['a.b*'], ['aabbb']],
    ['^a{,2}$', ['a{,2}'], ['aa']],
    ['^(?P<n>a)(?<m>b)$', ['ab'], ['ba']],
    ['', ['', 'x'], []],
    ['a||b', ['c'], []],
  ])('%s', (pattern, matching, other) => {
    const regex = new Regex(pattern);
    expect(matching.filter((text) => !regex.test(text))).toEqual([]);
    expect(other.filter((text) => regex.test(text))).toEqual([]);
  });

  test.each<[pattern: string, text: string, expected: string[]]>([
    ['a+', 'baaac aa', ['aaa', 'aa']],
    ['a+?', 'baaa', ['a', 'a', 'a']],
    ['a|ab', 'ab', ['a']],
    ['(?U)a+', 'aaa', ['a', 'a', 'a']],
    ['a*', 'baac', ['', 'aa', '']],
    ['', 'ab', ['', '', '']],
    ['.', 'a👑b', ['a', '👑', 'b']],
    ['[0-9]+', 'a1b22', ['1', '22']],
    ['(?:x|xy)z?', 'xyz xz', ['x', 'xz']],
    ['\\b', 'a b', ['', '', '', '']],
  ])('the matches of %s in %j', (pattern, text, matches) => {
    const regex = new Regex(pattern);
    expect(regex.findAll(text, -1)).toEqual(matches);
    expect(regex.findAll(text, 1)).toEqual(matches.slice(0, 1));
    expect(regex.find(text)).toBe(matches[0]);
  });
});

describe('a pattern that is none', () => {
  test.each([
    ['(', 'missing closing ): `(`'],
    ['a)b', 'unexpected ): `a)b`'],
    ['[', 'missing closing ]: `[`'],
    ['x[a', 'missing closing ]: `[a`'],
    ['*', 'missing argument to repetition operator: `*`'],
    ['(|*)', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a+?{2}', 'invalid nested repetition operator: `+?{2}`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['a{2,1}', 'invalid repeat count: `{2,1}`'],
    ['(a{100}){100}', 'invalid repeat count: `{100}`'],
    ['[z-a]', 'invalid character class range: `z-a`'],
    ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
    ['\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
    ['\\', 'trailing backslash at end of expression: ``'],
    ['\\y', 'invalid escape sequence: `\\y`'],
    ['\\8', 'invalid escape sequence: `\\8`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
    ['(?<=a)', 'invalid or unsupported Perl syntax: `(?<=`'],
    ['(?i', 'invalid or unsupported Perl syntax: `(?i`'],
    ['(?P<n', 'invalid named capture: `(?P<n`'],
    ['(?P<a-b>x)', 'invalid named capture: `(?P<a-b>`'],
    ['('.repeat(1002) + ')'.repeat(1002), `expression nests too deeply: \`${'('.repeat(1002)}${')'.repeat(1002)}\``],
    [`(?:${'a'.repeat(5000)}){1000}`, `expression too large: \`(?:${'a'.repeat(5000)}){1000}\``],
  ])('%j is reported in the words of Go', (pattern, message) => {
    expect(() => new Regex(pattern)).toThrow(`error parsing regexp: ${message}`);
  });
});

// Patterns whose meaning Go and JavaScript share, without what makes JavaScript's engine backtrack for long.
const atom = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\d', 'x');
const pattern = fc
  .array(fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,2}', '*?', '+?')), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.map(([char, repetition]) => char + repetition).join(''));
const expression = fc
  .tuple(fc.constantFrom('', '^'), pattern, fc.option(pattern), fc.constantFrom('', '$'))
  .map(([start, first, second, end]) => `${start}(?:${second === null ? first : `${first}|${second}`})${end}`);
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'x', '1', '\n'), maxLength: 12 });

describe('as JavaScript, where the two agree', () => {
  test('about what matches, and where', () => {
    fc.assert(
      fc.property(expression, text, (source, subject) => {
        const actual = new Regex(source);
        expect(actual.test(subject)).toBe(new RegExp(source).test(subject));
        expect(actual.find(subject)).toBe(new RegExp(source).exec(subject)?.[0] ?? '');
      }),
      { numRuns: 1500 },
    );
  });
});

describe('patterns that make other engines take forever', () => {
  test.each([
    ['^(a+)+$', `${'a'.repeat(20_000)}b`],
    ['^(a|aa)+$', `${'a'.repeat(20_000)}b`],
    ['(x+x+)+y', 'x'.repeat(10_000)],
    ['^(.*)*\\b$', `${'ab'.repeat(5_000)}!`],
    ['(?:a?){50}a{50}', 'a'.repeat(50)],
  ])('%s takes time in proportion to the text', (source, subject) => {
    expect(typeof new Regex(source).test(subject)).toBe('boolean');
  });
});

test('any pattern compiles or throws a RegexError, and its search terminates', () => {
  const tokens = fc.constantFrom(
    ...'a b ( ) (?: [ ] ^ $ | * + ? {2} {2,} {,3} \\d \\b \\Q \\E \\p{L} [^ - . (?i) (?m: \\x41 [[:alpha:]'.split(' '),
  );
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 12 }), text, (parts, subject) => {
      try {
        new Regex(parts.join('')).findAll(subject, 5);
      } catch (error) {
        expect(String(error)).toMatch(/^RegexError: error parsing regexp: /);
      }
    }),
    { numRuns: 1500 },
  );
});
