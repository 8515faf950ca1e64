import { describe, expect, it } from 'vitest';
import { Path } from '../errors/field-path.ts';
import type { JsonValue } from '../json/json-value.ts';
import { Correlation } from './correlation.ts';
import type { JsonSchema, ValidationRule } from './json-schema.ts';
import { RuleValidator } from './rule-validator.ts';

const withRules = (schema: JsonSchema, ...rules: ValidationRule[]): JsonSchema => ({ ...schema, 'x-kubernetes-validations': rules });
const fields: JsonSchema = {
  type: 'object',
  properties: { n: { type: 'integer' }, a: { type: 'string' }, l: { type: 'array', items: { type: 'string' } } },
};
const at = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { v: schema } });

function find(schema: JsonSchema, value: JsonValue, old?: JsonValue) {
  const before = old === undefined ? undefined : { v: old };
  const correlation = before && new Correlation({ v: value }, before, at(schema));
  const result = RuleValidator.of(at(schema), true)?.validate({ path: Path.none, value: { v: value }, old: before, correlation });
  return { errors: result?.errors.map(String) ?? [], warnings: result?.warnings ?? [] };
}

describe('a rule', () => {
  it.each<[string, JsonSchema, JsonValue, readonly string[]]>([
    ['that holds', withRules(fields, { rule: 'self.n > 3' }), { n: 5 }, []],
    ['that does not', withRules(fields, { rule: 'self.n > 3' }), { n: 1 }, ['v: Invalid value: failed rule: self.n > 3']],
    [
      'on a scalar',
      withRules({ type: 'string' }, { rule: 'self != "bad"' }),
      'bad',
      ['v: Invalid value: "bad": failed rule: self != "bad"'],
    ],
    ['with a message', withRules(fields, { rule: 'self.n > 3', message: ' too small ' }), { n: 1 }, ['v: Invalid value: too small']],
    [
      'with a made message',
      withRules(fields, { rule: 'self.n > 3', messageExpression: '"a is " + self.a' }),
      { n: 1, a: 'x' },
      ['v: Invalid value: a is x'],
    ],
    [
      'with a message that cannot be made',
      withRules(fields, { rule: 'self.n > 3', messageExpression: '"a is " + self.a', message: 'no' }),
      { n: 1 },
      ['v: Invalid value: no'],
    ],
    ['with an empty message', withRules(fields, { rule: 'false', messageExpression: '" "' }), {}, ['v: Invalid value: failed rule: false']],
    [
      'that fails',
      withRules(fields, { rule: '1 / self.n > 0' }),
      { n: 0 },
      ['v: Invalid value: "object": division by zero evaluating rule: 1 / self.n > 0'],
    ],
    [
      'that reads what is not there',
      withRules(fields, { rule: 'self.n > 0' }),
      {},
      ['v: Invalid value: "object": no such key: n evaluating rule: self.n > 0'],
    ],
    ['with reason Forbidden', withRules(fields, { rule: 'false', reason: 'FieldValueForbidden', message: 'no' }), {}, ['v: Forbidden: no']],
    [
      'with reason Required',
      withRules(fields, { rule: 'false', reason: 'FieldValueRequired', message: 'no' }),
      {},
      ['v: Required value: no'],
    ],
    [
      'with reason Duplicate',
      withRules({ type: 'string' }, { rule: 'false', reason: 'FieldValueDuplicate' }),
      'x',
      ['v: Duplicate value: "x"'],
    ],
    ['with a field path', withRules(fields, { rule: 'false', fieldPath: '.n', message: 'no' }), {}, ['v.n: Invalid value: no']],
    [
      'in items',
      { type: 'array', items: withRules(fields, { rule: 'self.n > 0' }) },
      [{ n: 1 }, { n: 0 }],
      ['v[1]: Invalid value: failed rule: self.n > 0'],
    ],
    [
      'in values',
      { type: 'object', additionalProperties: withRules({ type: 'string' }, { rule: 'self != "bad"' }) },
      { k: 'bad' },
      ['v[k]: Invalid value: "bad": failed rule: self != "bad"'],
    ],
    ['on null', { ...withRules({ type: 'string' }, { rule: 'false' }), nullable: true }, null, []],
    [
      'with escaped names',
      withRules({ type: 'object', properties: { 'a-b': { type: 'integer' } } }, { rule: 'self.a__dash__b > 0' }),
      { 'a-b': 0 },
      ['v: Invalid value: failed rule: self.a__dash__b > 0'],
    ],
    [
      'that does not compile',
      withRules(fields, { rule: 'self.nope' }),
      {},
      [
        `v: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^`,
      ],
    ],
  ])('%s', (_, schema, value, errors) => expect(find(schema, value).errors).toEqual(errors));

  it('reaches apiVersion, kind and name at the root of a resource', () => {
    const schema = withRules({ type: 'object' }, { rule: 'self.metadata.name.startsWith("a")' });
    const errors = RuleValidator.of(schema, true)
      ?.validate({ path: Path.of('r'), value: { metadata: { name: 'b' } } })
      .errors.map(String);
    expect(errors).toEqual(['r: Invalid value: failed rule: self.metadata.name.startsWith("a")']);
  });

  it('is not there in a schema without rules', () => expect(RuleValidator.of(fields, true)).toBeUndefined());
});

describe('a transition rule', () => {
  const immutable = at(withRules({ type: 'string' }, { rule: 'self == oldSelf', message: 'fixed' }));

  it('runs only where there was a value', () => {
    expect(find(immutable, { v: 'x' }).errors).toEqual([]);
    expect(find(immutable, { v: 'x' }, {}).errors).toEqual([]);
    expect(find(immutable, { v: 'y' }, { v: 'x' }).errors).toEqual(['v.v: Invalid value: "y": fixed']);
    expect(find(immutable, {}, { v: 'x' }).errors).toEqual([]);
  });

  it('may take the old value for optional', () => {
    const rule = { rule: 'oldSelf.hasValue() ? self == oldSelf.value() : self == "first"', optionalOldSelf: true };
    const schema = withRules({ type: 'string' }, rule);
    expect(find(schema, 'first').errors).toEqual([]);
    expect(find(schema, 'x').errors).toHaveLength(1);
    expect(find(schema, 'x', 'x').errors).toEqual([]);
    expect(find(schema, 'y', 'x').errors).toHaveLength(1);
  });

  it('finds old items of maps by their keys, and of no other lists', () => {
    const items = withRules(
      { type: 'object', properties: { k: { type: 'string' }, n: { type: 'integer' } } },
      { rule: 'self.n >= oldSelf.n' },
    );
    const keyed: JsonSchema = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    const old = [
      { k: 'a', n: 2 },
      { k: 'b', n: 2 },
    ];
    expect(
      find(
        keyed,
        [
          { k: 'b', n: 1 },
          { k: 'a', n: 3 },
          { k: 'c', n: 0 },
        ],
        old,
      ).errors,
    ).toEqual(['v[0]: Invalid value: failed rule: self.n >= oldSelf.n']);
    expect(find({ type: 'array', items }, [{ k: 'b', n: 0 }], old).errors).toEqual([]);
  });
});

describe('what did not change', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: withRules({ type: 'string' }, { rule: 'self != "bad"' }), b: { type: 'string' } },
  };

  it('is warned about only', () => {
    expect(find(schema, { a: 'bad', b: 'y' }, { a: 'bad', b: 'x' })).toEqual({
      errors: [],
      warnings: ['v.a: Invalid value: "bad": failed rule: self != "bad"'],
    });
    expect(find(schema, { a: 'bad' }, { a: 'good' }).errors).toHaveLength(1);
  });

  it('is no excuse for transition rules', () => {
    const locked = withRules({ type: 'string' }, { rule: 'oldSelf != "locked"' });
    expect(find(locked, 'locked', 'locked').errors).toEqual(['v: Invalid value: "locked": failed rule: oldSelf != "locked"']);
  });
});

describe('the budget', () => {
  const schema = withRules(
    { type: 'object', properties: { l: { type: 'array', items: { type: 'string' } } } },
    { rule: 'self.l.all(x, x.size() > 0)' },
    { rule: 'true' },
  );
  const value = { l: Array.from({ length: 1000 }, () => 'text') };
  const validator = RuleValidator.of(schema, false);

  it('ends the validation when it is spent', () => {
    const result = validator?.validate({ path: Path.of('o'), value, budget: 100 });
    expect(result?.remaining).toBe(-1);
    expect(result?.errors.map(String)).toEqual([
      'o: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });

  it('is told what is left of it', () => {
    const result = validator?.validate({ path: Path.of('o'), value, budget: 100_000 });
    expect(result?.errors).toEqual([]);
    expect(result?.remaining).toBeLessThan(100_000);
    expect(result?.remaining).toBeGreaterThan(0);
  });

  it('of a single rule is limited too', () => {
    const quadratic = withRules(schema, { rule: 'self.l.all(x, self.l.all(y, x == y))' });
    const [error] = RuleValidator.of(quadratic, false)?.validate({ path: Path.of('o'), value, budget: 10_000_000 }).errors ?? [];
    expect(String(error)).toContain(
      'no further validation rules will be run due to call cost exceeds limit for rule: self.l.all(x, self.l.all(y, x == y))',
    );
  });
});
