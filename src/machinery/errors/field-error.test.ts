import { describe, expect, it } from 'vitest';
import { aggregateFieldErrors, FieldError, Verbatim } from './field-error.ts';
import { Path } from './field-path.ts';

describe('Path', () => {
  it.each([
    [Path.of('metadata', 'name'), 'metadata.name'],
    [Path.of('spec').child('containers').index(0).child('ports').index(2), 'spec.containers[0].ports[2]'],
    [Path.of('metadata', 'labels').key('a/b'), 'metadata.labels[a/b]'],
    [Path.none.index(3).child('x'), '[3].x'],
    [Path.none, '<nil>'],
    [Path.none.child('kind'), 'kind'],
  ])('%# prints as upstream does: %s', (path, text) => {
    expect(String(path)).toBe(text);
  });

  it('does not change when children are made from it', () => {
    const spec = Path.of('spec');
    spec.child('a').index(1);
    expect(String(spec)).toBe('spec');
  });
});

describe('FieldError', () => {
  const path = Path.of('f');
  it.each([
    [FieldError.invalid(path, 'a"b\n', 'must not'), 'f: Invalid value: "a\\"b\\n": must not'],
    [FieldError.invalid(path, -1, 'must be positive'), 'f: Invalid value: -1: must be positive'],
    [FieldError.invalid(path, 0.00001, 'd'), 'f: Invalid value: 1e-05: d'],
    [FieldError.invalid(path, true, 'd'), 'f: Invalid value: true: d'],
    [FieldError.invalid(path, null, 'd'), 'f: Invalid value: null: d'],
    [FieldError.invalid(path, 9007199254740993n, 'd'), 'f: Invalid value: 9007199254740993: d'],
    [FieldError.invalid(path, { a: ['<x>'], n: 1n }, 'd'), 'f: Invalid value: {"a":["\\u003cx\\u003e"],"n":1}: d'],
    [FieldError.invalid(path, new Verbatim('core.X{}'), 'd'), 'f: Invalid value: core.X{}: d'],
    [FieldError.typeInvalid(path, 'x', ''), 'f: Invalid value: "x"'],
    [FieldError.required(path), 'f: Required value'],
    [FieldError.required(path, 'must be set'), 'f: Required value: must be set'],
    [FieldError.notSupported(path, 'x', ['A', 'B']), 'f: Unsupported value: "x": supported values: "A", "B"'],
    [FieldError.notSupported(path, 'x', []), 'f: Unsupported value: "x"'],
    [FieldError.duplicate(path, { name: 'x' }), 'f: Duplicate value: {"name":"x"}'],
    [FieldError.notFound(path, 'v'), 'f: Not found: "v"'],
    [FieldError.forbidden(path, 'no'), 'f: Forbidden: no'],
    [FieldError.tooLong(path, 63), 'f: Too long: may not be more than 63 bytes'],
    [FieldError.tooLong(path, 1), 'f: Too long: may not be more than 1 byte'],
    [FieldError.tooLong(path, -1), 'f: Too long: value is too long'],
    [FieldError.tooLongCharacters(path, 2), 'f: Too long: may not be more than 2 characters'],
    [FieldError.tooShort(path, '', 1), 'f: Too short: must be at least 1 character'],
    [FieldError.tooMany(path, 5, 3), 'f: Too many: 5: must have at most 3 items'],
    [FieldError.tooMany(path, -1, 1), 'f: Too many: must have at most 1 item'],
    [FieldError.tooFew(path, 0, 1), 'f: Too few: 0: must have at least 1 item'],
    [FieldError.internalError(path, new Error('boom')), 'f: Internal error: boom'],
    [FieldError.forbidden(path, 'no').prefixDetail('pre '), 'f: Forbidden: pre no'],
  ])('%# prints as upstream does: %s', (error, text) => {
    expect(String(error)).toBe(text);
  });

  it('joins several with brackets and each message once', () => {
    const a = FieldError.required(Path.of('a'));
    const b = FieldError.required(Path.of('b'));
    expect(aggregateFieldErrors([a, b, a])).toBe('[a: Required value, b: Required value]');
    expect(aggregateFieldErrors([a, a])).toBe('a: Required value');
    expect(aggregateFieldErrors([])).toBe('');
  });
});
