import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeJson } from '../json/encode-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import { encodeYaml } from './encode-yaml.ts';
import { parseYaml, parseYamlDocuments, yamlSteps } from './parse-yaml.ts';

const value = (text: string) => parseYaml(text).value;

describe('parsing YAML', () => {
  it.each<[string, unknown]>([
    ['', null],
    ['# nothing\n', null],
    ['a: 1', { a: 1 }],
    ['a: yes\nb: Off\nc: "yes"\nd: y\ne: TRUE\nf: nO', { a: true, b: false, c: 'yes', d: true, e: true, f: 'nO' }],
    ['a: ~\nb:\nc: Null', { a: null, b: null, c: null }],
    ['[010, 0o10, 0x1F, 0b11, -5, +5, 1_000, 08]', [8, 8, 31, 3, -5, 5, 1000, 8]],
    ['[1.5, .5, 1e3, -1.e2, 1.2.3, 1:30]', [1.5, 0.5, 1000, -100, '1.2.3', '1:30']],
    ['[9223372036854775807, 18446744073709551615]', [9223372036854775807n, 18446744073709551615n]],
    ['[2024-01-01, 2024-01-01T00:00:00Z]', ['2024-01-01', '2024-01-01T00:00:00Z']],
    ['1: a\ntrue: b\n1.5: c', { 1: 'a', true: 'b', '1.5': 'c' }],
    ['a: |\n  two\n  lines\nb: >-\n  one\n  line\n', { a: 'two\nlines\n', b: 'one line' }],
    ['a: &x {b: 1}\nc: *x\nd: &s text\ne: *s', { a: { b: 1 }, c: { b: 1 }, d: 'text', e: 'text' }],
    ['x: &x {a: 1, b: 1}\nz:\n  <<: *x\n  b: 2', { x: { a: 1, b: 1 }, z: { a: 1, b: 2 } }],
    ['z:\n  <<: [{a: 1}, {a: 2, b: 2}]', { z: { a: 1, b: 2 } }],
    ['a: !!str 1\nb: !!int "2"\nc: !!float 3\nd: !custom 4\ne: !!binary aGk=', { a: '1', b: 2, c: 3, d: '4', e: 'hi' }],
    ['{"a": [1, {"b": null}]}', { a: [1, { b: null }] }],
    ['{a: [x, b: z]}', { a: ['x', { b: 'z' }] }],
    ['y: 1', { true: 1 }],
    ['\ufeffa: 1', { a: 1 }],
    ['__proto__: {x: 1}', JSON.parse('{"__proto__":{"x":1}}')],
  ])('%j', (text, expected) => {
    expect(value(text)).toEqual(expected);
    expect(parseYaml(Buffer.from(text)).value).toEqual(expected);
  });

  it.each([
    ['{"a": [}', 'yaml: did not find expected node content'],
    ['a: [b', "yaml: did not find expected ',' or ']'"],
    ['a: [{b: c}, {d: e', "yaml: did not find expected ',' or '}'"],
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['a: 1\n b: 2', 'yaml: line 2: mapping values are not allowed in this context'],
    ['a: "x', 'yaml: found unexpected end of stream'],
    ['a:\n\t- b', 'yaml: line 2: found character that cannot start any token'],
    ['@a', 'yaml: found character that cannot start any token'],
    ['a: *x', "yaml: unknown anchor 'x' referenced"],
    ['a: &x [*x]', "yaml: anchor 'x' value contains itself"],
    ['<<: 1', 'yaml: map merge requires map or sequence of maps as the value'],
    ['a: !!int x', 'yaml: cannot decode !!str `x` as a !!int'],
    ['a: .nan', 'yaml: json: unsupported value: NaN'],
    ['? [a]\n: b', 'yaml: invalid map key: [a]'],
    ['a: \u0001', 'yaml: control characters are not allowed'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message);
  });

  it('reports repeated keys, with line and path; the last one counts', () => {
    const document = parseYaml('a: 1\nb:\n- c: 1\n  c: 2\na: 3\n');
    expect(document.value).toEqual({ a: 3, b: [{ c: 2 }] });
    expect(document.duplicates).toEqual([['b', 0, 'c'], ['a']]);
    expect(document.problems).toEqual(['line 4: key "c" already set in map', 'line 5: key "a" already set in map']);
    expect(parseYaml('{"data":{"a":"1","a":"2"}}').problems).toEqual(['line 1: key "a" already set in map']);
  });

  it('takes the first of several documents, or all', () => {
    const text = '---\na: 1\n---\nb: 2\n---\n---\nc: 3\n...\n';
    expect(value(text)).toEqual({ a: 1 });
    expect(parseYamlDocuments(text).map((document) => document.value)).toEqual([{ a: 1 }, { b: 2 }, null, { c: 3 }]);
  });

  it('is not blown up by aliases', () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 12; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(',')}]`,
      );
    expect(() => parseYaml(lines.join('\n'))).toThrow('yaml: document contains excessive aliasing');
  });

  it('is not blown up by merge keys', () => {
    const base = `base: &b {${Array.from({ length: 2000 }, (_, i) => `k${i}: 1`).join(', ')}}\n`;
    const merges = Array.from({ length: 2000 }, (_, i) => `m${i}: {<<: *b}`).join('\n');
    expect(() => parseYaml(base + merges)).toThrow('yaml: document contains excessive aliasing');
  });

  it('is not blown up by repeated keys', () => {
    const { value, duplicates, problems } = parseYaml(`a: 0\n${'a: 1\nb: 2\n'.repeat(100_000)}`);
    expect(value).toEqual({ a: 1, b: 2 });
    expect(duplicates).toEqual([['a'], ['b']]);
    expect(problems.at(-1)).toBe('line 200001: key "b" already set in map');
  });

  it('limits depth', () => {
    expect(() => parseYaml(`${'[a, '.repeat(20_000)}`)).toThrow(/^yaml: /);
    expect(() => parseYaml(Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'))).toThrow(/^yaml: /);
  });

  it('does not pollute prototypes', () => {
    parseYaml('__proto__: {polluted: 1}\n<<: {__proto__: {polluted: 1}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('any text parses or is refused with a YamlError', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:-?&*!|>{}[],"\'#% \n\t<0') }), (text) => {
        try {
          parseYamlDocuments(text);
        } catch (error) {
          expect((error as Error).name).toBe('YamlError');
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('encoding YAML', () => {
  it('writes as the API does', () => {
    expect(encodeYaml({ b: ['x', { c: 1 }], a: 'yes', m: null, big: 9223372036854775807n, e: {}, t: 'two\nlines\n' })).toBe(
      'a: "yes"\nb:\n- x\n- c: 1\nbig: 9223372036854775807\ne: {}\nm: null\nt: |\n  two\n  lines\n',
    );
  });

  it('is read back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const plain = JSON.parse(JSON.stringify(json)) as JsonValue;
        expect(JSON.parse(encodeJson(parseYaml(encodeYaml(plain)).value))).toEqual(plain);
      }),
    );
  });
});

it('a large YAML text is parsed with pauses, to the same value', () => {
  const text = Array.from({ length: 12_000 }, (_, i) => `k${i}: v\n`).join('');
  const steps = yamlSteps(text);
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  expect({ pauses, value: step.value.value }).toEqual({ pauses: 3, value: parseYaml(text).value });
});
