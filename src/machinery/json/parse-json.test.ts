import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeJson } from './encode-json.ts';
import { ExactJsonParser, JsonSyntaxError } from './exact-json-parser.ts';
import { parseJson } from './parse-json.ts';

describe('parsing JSON', () => {
  it.each<[string, unknown]>([
    ['{}', {}],
    [' [1, -2.5, "x", true, false, null] ', [1, -2.5, 'x', true, false, null]],
    ['"\\u00e9\\n\\ud83d\\ude00\\/"', 'é\n😀/'],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['{"a":-9223372036854775808}', { a: -9223372036854775808n }],
    ['[99999999999999999999]', [99999999999999999999n]],
    ['[0.1234567890123456789]', [0.12345678901234568]],
    ['[1e3,1E-2]', [1000, 0.01]],
    ['["\\ud800x","\\ud800\\u0041"]', ['\ufffdx', '\ufffdA']],
    ['{"a":":","b\\"":1}', { a: ':', 'b"': 1 }],
  ])('%s', (text, value) => {
    expect(parseJson(text).value).toEqual(value);
    expect(parseJson(Buffer.from(text)).value).toEqual(value);
  });

  it.each([
    ['', 'unexpected end of JSON input'],
    [' ', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{"data":', 'unexpected end of JSON input'],
    ['[1', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['-', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{}{', "invalid character '{' after top-level value"],
    ['{} t', "invalid character 't' after top-level value"],
    ['01', "invalid character '1' after top-level value"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['tx', "invalid character 'x' in literal true (expecting 'r')"],
    ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['[1e400]', 'json: cannot unmarshal number 1e400 into Go value of type float64'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseJson(text)).toThrow(new JsonSyntaxError(message));
  });

  it('reports repeated keys with their path, and the last one counts', () => {
    const { value, duplicates } = parseJson('{"a":1,"b":[{"c":1,"d":{},"c":2,"c":3}],"a":{"x":1,"x":1}}');
    expect(value).toEqual({ a: { x: 1 }, b: [{ c: 3, d: {} }] });
    expect(duplicates).toEqual([['b', 0, 'c'], ['a'], ['a', 'x']]);
    expect(parseJson('{"a":":","b":{"a":1}}').duplicates).toEqual([]);
  });

  it('takes __proto__ for a key like any other', () => {
    for (const text of ['{"__proto__":{"x":1}}', '{"__proto__":{"x":12345678901234567890}}']) {
      const value = parseJson(text).value as object;
      expect(Object.keys(value)).toEqual(['__proto__']);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
    expect(parseJson('{"__proto__":1,"__proto__":2}').duplicates).toEqual([['__proto__']]);
  });

  it('replaces bytes that are no UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('["'), Buffer.from([0xff]), Buffer.from('"]')]);
    expect(parseJson(bytes).value).toEqual(['\ufffd']);
    expect(new ExactJsonParser(bytes).parse().value).toEqual(['\ufffd']);
  });

  it('limits depth', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(() => parseJson(nested(10_000))).not.toThrow();
    expect(() => parseJson(nested(10_001))).toThrow('exceeded max depth');
    expect(() => new ExactJsonParser(Buffer.from(nested(10_000))).parse()).not.toThrow();
    expect(() => parseJson('['.repeat(1_000_000))).toThrow('exceeded max depth');
  });

  it('reads what the encoder writes, and agrees with JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const expected = JSON.parse(text);
        expect(JSON.parse(encodeJson(parseJson(text).value))).toEqual(expected);
        expect(parseJson(JSON.stringify(value, null, 2)).duplicates).toEqual([]);
        const exact = new ExactJsonParser(Buffer.from(text)).parse();
        expect(JSON.parse(encodeJson(exact.value))).toEqual(expected);
        expect(exact.duplicates).toEqual([]);
      }),
    );
  });

  it('keeps 64-bit integers through parsing and encoding', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (integer) => {
        const text = `{"a":[${integer}]}`;
        expect(encodeJson(parseJson(text).value)).toBe(text);
      }),
    );
  });

  it('accepts and refuses the same texts as JSON.parse', () => {
    const text = fc.string({ unit: fc.constantFrom(...'{}[]",:\\0123eE.-+tfnul \n') });
    fc.assert(
      fc.property(text, (candidate) => {
        const actual = attempt(() => new ExactJsonParser(Buffer.from(candidate)).parse().value);
        const reference = attempt(() => JSON.parse(candidate));
        expect(actual.ok).toBe(reference.ok);
        if (!actual.ok) expect(actual.error).toBeInstanceOf(JsonSyntaxError);
      }),
      { numRuns: 500 },
    );
  });
});

function attempt(run: () => unknown): { ok: boolean; error?: unknown } {
  try {
    run();
    return { ok: true };
  } catch (error) {
    return { ok: false, error };
  }
}
