import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { example } from './apply.test-setup.ts';
import { compareValues } from './compare.ts';
import { fieldFilter, SERVER_FIELDS } from './field-filter.ts';
import { difference, EMPTY_SET, type FieldSet, includesAll, intersects, union } from './field-set.ts';
import { changeOfLeaves } from './modified-leaves.ts';
import { shapeOf } from './shape.ts';
import { Thing } from './thing.test-schema.ts';

const SHAPE = shapeOf(Thing);
const MINE: FieldSet = { 'f:spec': { 'f:replicas': {}, 'f:options': { '.': {}, 'f:a': {} } } };
const THEIRS: FieldSet = { 'f:spec': { 'f:options': { 'f:b': {} } } };

const thingWith = (spec: Record<string, JsonValue>, rest: Record<string, JsonValue> = {}): JsonObject =>
  example({ spec: { replicas: 1, options: { a: 'x', b: 'x' }, containers: [{ name: 'c' }], ...spec }, ...rest });

describe('a write that changes', () => {
  const before = thingWith({});
  it.each([
    ['nothing', {}, 'none'],
    ['a leaf of its own', { replicas: 2 }, 'own'],
    ['a member of a map of its own', { options: { a: 'y', b: 'x' } }, 'own'],
    ["another manager's leaf", { options: { a: 'x', b: 'y' } }, 'undecided'],
    ['a list with keys', { containers: [{ name: 'd' }] }, 'undecided'],
    ['a field that was not there', { paused: true }, 'undecided'],
  ] as const)('%s', (_, spec, change) => {
    const containers = (before.spec as JsonObject).containers as JsonValue;
    const pair = { before, after: thingWith({ containers, ...spec }) };
    expect(changeOfLeaves(SHAPE, pair, { own: MINE, others: [THEIRS] })).toBe(change);
  });

  it('removes a field', () => {
    const after = example({ spec: { options: { a: 'x', b: 'x' } } });
    expect(changeOfLeaves(SHAPE, { before, after }, { own: MINE, others: [] })).toBe('undecided');
  });

  it('only what the endpoint resets', () => {
    const pair = { before, after: thingWith({ ...(before.spec as JsonObject) }, { status: { phase: 'x' } }) };
    expect(changeOfLeaves(SHAPE, pair, { own: MINE, others: [] }, [['status']])).toBe('none');
    expect(changeOfLeaves(SHAPE, pair, { own: MINE, others: [] })).toBe('undecided');
  });
});

describe('for any two objects and owners', () => {
  const names = fc.constantFrom('a', 'b', 'constructor', '__proto__');
  const specs = fc.record(
    {
      replicas: fc.oneof(fc.nat({ max: 2 }), fc.constant(null)),
      selector: fc.dictionary(names, names, { maxKeys: 2 }),
      options: fc.dictionary(names, names, { maxKeys: 2 }),
      anything: fc.jsonValue({ maxDepth: 1 }),
      tags: fc.uniqueArray(names, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Record<string, JsonValue>>;

  it('agrees with the comparison of all fields', () => {
    fc.assert(
      fc.property(specs, specs, specs, specs, (before, after, ownFields, otherFields) => {
        const pair = { before: example({ spec: before }), after: example({ spec: after, metadata: { name: 'a', resourceVersion: '2' } }) };
        const [own, others] = [ownFields, otherFields].map((spec) => compareValues(SHAPE, example(), example({ spec })).added) as [
          FieldSet,
          FieldSet,
        ];
        const change = changeOfLeaves(SHAPE, pair, { own, others: [others] });
        if (change === 'undecided') return;
        const { added, modified, removed } = compareValues(SHAPE, pair.before, pair.after);
        const written = difference(union(modified, added), SERVER_FIELDS);
        expect(difference(fieldFilter({})(removed), SERVER_FIELDS)).toEqual(EMPTY_SET);
        expect(includesAll(own, written)).toBe(true);
        expect(intersects(others, written)).toBe(false);
        expect(change === 'none').toBe(Object.keys(written).length === 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
