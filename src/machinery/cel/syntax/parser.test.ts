import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FULL_ENVIRONMENT } from '../environments.ts';
import type { Expr } from './ast.ts';
import { parse } from './parser.ts';
import { Source } from './source.ts';

function parsed(text: string) {
  const source = new Source(text);
  const { expr, issues } = parse(source, FULL_ENVIRONMENT.macros);
  return { expr, message: source.formatAll(issues) };
}

/** The tree with every operator and call written as a function. */
function show(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return JSON.stringify(expr.value, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
    case 'ident':
      return expr.name;
    case 'select':
      return `${show(expr.operand)}.${expr.field}${expr.testOnly ? '~' : ''}`;
    case 'call':
      return `${expr.target === undefined ? '' : `${show(expr.target)}.`}${expr.function}(${expr.args.map(show).join(', ')})`;
    case 'list':
      return `[${expr.elements.map((element, i) => (expr.optionals.has(i) ? '?' : '') + show(element)).join(', ')}]`;
    case 'map':
      return `{${expr.entries.map((entry) => `${entry.optional ? '?' : ''}${show(entry.key)}: ${show(entry.value)}`).join(', ')}}`;
    case 'struct':
      return `${expr.typeName}{${expr.fields.map((field) => `${field.optional ? '?' : ''}${field.name}: ${show(field.value)}`).join(', ')}}`;
    case 'comprehension':
      return `fold(${show(expr.range)}, ${expr.shape.kind})`;
  }
}

describe('the grammar', () => {
  test.each([
    ['a + b * c - d', '_-_(_+_(a, _*_(b, c)), d)'],
    ['a < b == c', '_==_(_<_(a, b), c)'],
    ['a || b && c', '_||_(a, _&&_(b, c))'],
    ['a && b && c && d', '_&&_(_&&_(a, b), _&&_(c, d))'],
    ['a ? b : c ? d : e', '_?_:_(a, b, _?_:_(c, d, e))'],
    ['-1', '-1'],
    ['-a', '-_(a)'],
    ['--a', 'a'],
    ['!!!a', '!_(a)'],
    ['!-1', '!_(-1)'],
    ['a in [b]', '@in(a, [b])'],
    ['a.b[c].d(e)', '_[_](a.b, c).d(e)'],
    ['a.?b[?c]', '_[?_](_?._(a, "b"), c)'],
    ['.a.b', '.a.b'],
    ['a.b.C{x: 1, ?y: z,}', 'a.b.C{x: 1, ?y: z}'],
    ['{1: 2, ?"a": b,}', '{1: 2, ?"a": b}'],
    ['[?a, b,]', '[?a, b]'],
    ['[,]', '[]'],
    ['has(a.b)', 'a.b~'],
    ['a.all(x, x)', 'fold(a, all)'],
    ['1.5e3 // comment', '{"value":1500}'],
    ['0x1Fu', '{"value":"31n"}'],
    ['9223372036854775807', '"9223372036854775807n"'],
    ['(((a)))', 'a'],
    ['a\n\t.b', 'a.b'],
    ['inside', 'inside'],
    ['r"\\"', '"\\\\"'],
  ])('reads %s', (text, tree) => {
    const { expr, message } = parsed(text);
    expect(message).toBe('');
    expect(expr && show(expr)).toBe(tree);
  });
});

const OPERAND = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

describe('what does not follow the grammar', () => {
  test.each([
    ['x +', [`1:4: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`]],
    ['object.x ==', [`1:12: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`]],
    ['Object{', ["1:8: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"]],
    ['', [`1:0: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`]],
    ['a b', ["1:3: Syntax error: extraneous input 'b' expecting <EOF>"]],
    ['(a', ["1:3: Syntax error: missing ')' at '<EOF>'"]],
    ['a.', ["1:3: Syntax error: no viable alternative at input '.'"]],
    ['a.true', ["1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"]],
    ['a = b', ["1:3: Syntax error: token recognition error at: '= '", "1:5: Syntax error: extraneous input 'b' expecting <EOF>"]],
    [
      '"abc',
      ["1:1: Syntax error: token recognition error at: '\"abc'", `1:5: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`],
    ],
    ['a ? b', ["1:6: Syntax error: mismatched input '<EOF>' expecting ':'"]],
    ['--', ["1:3: Syntax error: no viable alternative at input '-'", `1:3: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`]],
    ['f(a,)', [`1:5: Syntax error: mismatched input ')' expecting ${OPERAND}`]],
    ['1 + * 2', [`1:5: Syntax error: extraneous input '*' expecting ${OPERAND}`]],
    ['a. # ', ["1:4: Syntax error: token recognition error at: '#'", "1:6: Syntax error: no viable alternative at input '.  '"]],
    ['while true', ['1:1: reserved identifier: while', "1:7: Syntax error: extraneous input 'true' expecting <EOF>"]],
    ['if a then b', ['1:1: reserved identifier: if', "1:4: Syntax error: mismatched input 'a' expecting <EOF>"]],
    ['has(self.)', ['1:5: invalid argument to has() macro', "1:10: Syntax error: no viable alternative at input '.)'"]],
    ['has(.)', ['1:0: invalid argument to has() macro', "1:6: Syntax error: no viable alternative at input '.)'"]],
    ['a.all(b.c, true', ['1:8: argument must be a simple name', "1:16: Syntax error: missing ')' at '<EOF>'"]],
    ['a.?', ["1:4: Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}", '1:4: unsupported ident kind']],
    ['9223372036854775808 )', ['1:1: invalid int literal', "1:21: Syntax error: extraneous input ')' expecting <EOF>"]],
    ['1e999 $', ['1:1: invalid double literal', "1:7: Syntax error: token recognition error at: '$'"]],
    ['"\\ud800" )', ['1:1: invalid unicode code point', "1:10: Syntax error: extraneous input ')' expecting <EOF>"]],
    ['{1: 9u, 2: 18446744073709551616u, b}', ['1:12: invalid uint literal', "1:36: Syntax error: mismatched input '}' expecting ':'"]],
    ['a{`b`: 1} )', ["1:3: unsupported syntax: '`'", "1:11: Syntax error: extraneous input ')' expecting <EOF>"]],
  ])('%j is reported in upstream words', (text, message) => {
    const errors = parsed(text)
      .message.split('\n')
      .filter((line) => line.startsWith('ERROR: <input>:'))
      .map((line) => line.slice('ERROR: <input>:'.length));
    expect(errors).toEqual(message);
  });

  test.each([
    ['while', 'reserved identifier: while'],
    ['a.`b`', "unsupported syntax: '`'"],
    ['9223372036854775808', 'invalid int literal'],
    ['18446744073709551616u', 'invalid uint literal'],
    ['1e999', 'invalid double literal'],
    ['"\\ud800"', 'invalid unicode code point'],
    ['b"\\u0041"', 'unable to unescape string'],
  ])('%s is no expression', (text, message) => {
    expect(parsed(text).message).toContain(`: ${message}\n`);
  });

  test.each([
    ['nesting', `${'('.repeat(300)}1${')'.repeat(300)}`, 'expression recursion limit exceeded: 250'],
    ['chains', `1${' + 1'.repeat(20_000)}`, 'max recursion depth exceeded'],
    ['selections', `a${'.b'.repeat(20_000)}`, 'max recursion depth exceeded'],
    ['size', `"${'a'.repeat(100_000)}"`, 'expression code point size exceeds limit: size: 100002, limit 100000'],
  ])('%s is bounded', (_, text, message) => {
    expect(parsed(text).message).toBe(`ERROR: <input>:-1:0: ${message}`);
  });

  test('long chains of || are no nesting', () => {
    expect(parsed(`a${' || a'.repeat(10_000)}`).message).toBe('');
  });
});

describe('any text', () => {
  const pieces = fc.constantFrom(
    ...'a b true null in 1 2u 1.5 "s" \'t\' b"x" ( ) [ ] { } . .? , ? : - ! + * / % < <= == != && || has all( map(x, optional.of // `q` $ @ " \n'.split(
      ' ',
    ),
  );
  test('parses or is reported, and never breaks the parser', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const { expr, message } = parsed(parts.join(' '));
        expect(expr === undefined).toBe(message !== '');
      }),
      { numRuns: 1500 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const { expr, message } = parsed(text);
        expect(expr === undefined).toBe(message !== '');
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['open brackets', '['.repeat(50_000)],
    ['minus signs', '-'.repeat(50_000)],
    ['bangs', `${'!'.repeat(50_000)}a`],
    ['quotes', '"'.repeat(50_001)],
    ['broken operands', '1 + '.repeat(10_000)],
    ['garbage', '$'.repeat(2_000)],
    ['commas', `f(${','.repeat(20_000)})`],
    ['ternaries', 'a ? b : '.repeat(10_000)],
    ['errors one after the other', ') a '.repeat(10_000)],
    ['chains of operators before an error', `a${' + a'.repeat(20_000)} )`],
    ['chains of fields before an error', `a${'.b'.repeat(20_000)} )`],
    ['chains of calls before an error', `a${'.b()'.repeat(20_000)} )`],
    ['elements before an error', `[${'{1: while}, '.repeat(5_000)} )`],
  ])('of %s is settled at once', (_, text) => {
    expect(typeof parsed(text).message).toBe('string');
  });
});
