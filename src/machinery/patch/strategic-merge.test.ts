import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { Field, ObjectSchema, Schema } from '../schema.ts';
import { sameJson } from './same-json.ts';
import { createStrategicMergePatch, createThreeWayStrategicPatch, PatchConflictError } from './strategic-diff.ts';
import { StrategicPatchError } from './strategic-error.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';

type FieldOf = readonly [Schema, Partial<Field>?];

function object(name: string, fields: Record<string, FieldOf>): ObjectSchema {
  const list: Field[] = Object.entries(fields).map(([field, [schema, options]], i) => ({
    name: field,
    schema,
    description: '',
    presence: 'nonzero',
    required: false,
    patchStrategies: [],
    number: i + 1,
    ...options,
  }));
  const fieldsByName = new Map(list.map((field) => [field.name, field]));
  return { type: 'object', name: `test.${name}`, description: '', fields: list, fieldsByName, atomic: false, preserveUnknown: false };
}

const string: Schema = { type: 'string' };
const listOf = (items: Schema): Schema => ({ type: 'list', items, listType: 'atomic', keys: [] });
const merge = (patchMergeKey: string): Partial<Field> => ({ patchStrategies: ['merge'], patchMergeKey });

const port = object('Port', { containerPort: [{ type: 'int32' }], name: [string] });
const container = object('Container', {
  name: [string],
  image: [string],
  args: [listOf(string)],
  ports: [listOf(port), merge('containerPort')],
});
const strategy = object('Strategy', { type: [string], rolling: [object('Rolling', { max: [string] })] });
const spec = object('Spec', {
  containers: [listOf(container), merge('name')],
  finalizers: [listOf(string), { patchStrategies: ['merge'] }],
  data: [{ type: 'map', values: string, atomic: false }],
  nested: [{ type: 'map', values: { type: 'map', values: string, atomic: false }, atomic: false }],
  strategy: [strategy, { patchStrategies: ['retainKeys'] }],
  whole: [object('Whole', { a: [string], b: [string] }), { patchStrategies: ['replace'] }],
  count: [{ type: 'int32' }],
});

const live = (): JsonObject => ({
  containers: [
    { name: 'c1', image: 'i1', args: ['a', 'b'], ports: [{ containerPort: 53, name: 'dns' }] },
    { name: 'c2', image: 'i2' },
  ],
  finalizers: ['a', 'b', 'c'],
  data: { a: '1', b: '2' },
  strategy: { type: 'Rolling', rolling: { max: '1' } },
  whole: { a: '1', b: '2' },
});

const names = (value: JsonObject) => (value.containers as JsonObject[]).map(({ name }) => name);
const apply = (patch: JsonObject) => applyStrategicMergePatch(live(), patch, spec);

describe('a strategic merge patch', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['merges maps, and null deletes', { data: { a: null, c: '3' } }, { data: { b: '2', c: '3' } }],
    ['deletes a map', { data: { $patch: 'delete' } }, { data: {} }],
    ['replaces a map', { data: { $patch: 'replace', c: '3' } }, { data: { c: '3' } }],
    [
      'replaces lists without strategy',
      { containers: [{ name: 'c1', args: ['z'] }] },
      { containers: [{ ...first(), args: ['z'] }, second()] },
    ],
    [
      'deletes in items',
      { containers: [{ name: 'c1', args: null }] },
      { containers: [{ name: 'c1', image: 'i1', ports: first().ports }, second()] },
    ],
    ['puts new items first', { containers: [{ name: 'n', image: 'x' }] }, { containers: [{ name: 'n', image: 'x' }, first(), second()] }],
    ['deletes items', { containers: [{ name: 'c1', $patch: 'delete' }] }, { containers: [second()] }],
    ['ignores deletion of missing items', { containers: [{ name: 'zz', $patch: 'delete' }] }, {}],
    ['replaces lists', { containers: [{ $patch: 'replace' }, { name: 'x' }] }, { containers: [{ name: 'x' }] }],
    ['merges scalars', { finalizers: ['d', 'b'] }, { finalizers: ['d', 'a', 'b', 'c'] }],
    ['deletes scalars', { '$deleteFromPrimitiveList/finalizers': ['b'] }, { finalizers: ['a', 'c'] }],
    ['orders scalars', { '$setElementOrder/finalizers': ['c', 'a'] }, { finalizers: ['b', 'c', 'a'] }],
    ['retains keys', { strategy: { $retainKeys: ['type'], type: 'Recreate' } }, { strategy: { type: 'Recreate' } }],
    ['replaces objects by strategy', { whole: { b: '3' } }, { whole: { b: '3' } }],
    ['drops nulls and directives from what is new', { nested: { x: { y: null }, z: { $patch: 'delete' } } }, { nested: { x: {} } }],
    ['takes another type as it is', { data: 'text' }, { data: 'text' }],
    [
      'merges by a number',
      { containers: [{ name: 'c1', ports: [{ containerPort: 53, name: 'x' }] }] },
      { containers: [{ ...first(), ports: [{ containerPort: 53, name: 'x' }] }, second()] },
    ],
  ])('%s', (_, patch, changes) => {
    const before = JSON.stringify(patch);
    const original = live();
    expect(applyStrategicMergePatch(original, patch, spec)).toEqual({ ...live(), ...changes });
    expect(original).toEqual(live());
    expect(JSON.stringify(patch)).toBe(before);
  });

  it('orders lists as it says', () => {
    expect(names(apply({ '$setElementOrder/containers': [{ name: 'c2' }, { name: 'c1' }] }))).toEqual(['c2', 'c1']);
    const between = { '$setElementOrder/containers': [{ name: 'c1' }, { name: 'n' }, { name: 'c2' }], containers: [{ name: 'n' }] };
    expect(names(apply(between))).toEqual(['c1', 'n', 'c2']);
    expect(names(apply({ containers: [{ name: 'n1' }, { name: 'c1' }, { name: 'n2' }] }))).toEqual(['n1', 'c1', 'n2', 'c2']);
    const twice = apply({
      containers: [
        { name: 'c1', image: 'x' },
        { name: 'c1', args: ['y'] },
      ],
    });
    expect((twice.containers as JsonObject[])[0]).toMatchObject({ image: 'x', args: ['y'] });
  });

  it('shares what it does not touch', () => {
    const original = live();
    const patched = applyStrategicMergePatch(original, { data: { c: '3' } }, spec);
    expect(patched.containers).toBe(original.containers);
  });

  it.each<[JsonObject, string]>([
    [{ data: { $patch: 'merge', c: '3' } }, 'unknown patch type: merge in map: map[$patch:merge c:3]'],
    [{ containers: [{ name: 'c1', $patch: 'merge' }] }, 'merging lists cannot yet be specified in the patch'],
    [{ containers: [{ name: 'c1', $patch: 'frob' }] }, 'unknown patch type: frob in map: map[$patch:frob name:c1]'],
    [{ containers: [{ image: 'x' }] }, 'map: map[image:x] does not contain declared merge key: name'],
    [{ containers: [{ $patch: 'delete' }] }, 'map: map[$patch:delete] does not contain declared merge key: name'],
    [{ containers: ['x'] }, 'list element types are not identical'],
    [{ containers: [['x']] }, 'list element types are not identical'],
    [{ '$setElementOrder/containers': [{ image: 'c2' }] }, 'map: map[image:c2] does not contain declared merge key: name'],
    [
      { '$setElementOrder/containers': [{ name: 'c2' }], containers: [{ name: 'n', image: 'x' }] },
      "The order in patch list:\n[map[image:x name:n]]\n doesn't match $setElementOrder list:\n[map[name:c2]]\n",
    ],
    [{ '$setElementOrder/containers': 'x' }, 'expected a []interface {}, but received a string'],
    [{ '$setElementOrder/nope': [1] }, 'unable to find api field in struct Spec for the json field "nope"'],
    [{ $setElementOrder: [1] }, 'invalid patch format of setElementOrder list'],
    [{ $deleteFromPrimitiveList: [1] }, 'invalid patch format of primitive list'],
    [{ strategy: { $retainKeys: ['type'], rolling: {} } }, 'invalid patch format of retainKeys'],
    [{ strategy: { $retainKeys: 'type' } }, 'invalid patch format of retainKeys'],
  ])('%j is refused: %s', (patch, message) => {
    expect(() => apply(patch)).toThrow(message);
  });

  it('cannot look into maps of objects', () => {
    const original = { nested: { x: { a: '1' } } };
    expect(() => applyStrategicMergePatch(original, { nested: { x: { b: '2' } } }, spec)).toThrow(
      'merging an object in json but data type is not struct, instead is: map',
    );
  });

  it('fails with the status that a server answers', () => {
    const statusOf = (patch: JsonObject) => {
      try {
        return apply(patch);
      } catch (error) {
        return (error as StrategicPatchError).toStatusError().code;
      }
    };
    expect(statusOf({ $deleteFromPrimitiveList: [1] })).toBe(400);
    expect(statusOf({ containers: [{}] })).toBe(500);
    expect(new StrategicPatchError('x', 'unprocessable').toStatusError().code).toBe(422);
  });
});

function first() {
  return { name: 'c1', image: 'i1', args: ['a', 'b'], ports: [{ containerPort: 53, name: 'dns' }] };
}

function second() {
  return { name: 'c2', image: 'i2' };
}

describe('making strategic patches', () => {
  it('says only what changed', () => {
    const modified = { ...live(), containers: [{ ...first(), image: 'new' }], finalizers: ['a', 'c', 'd'] };
    expect(createStrategicMergePatch(live(), modified, spec)).toEqual({
      $retainKeys: undefined,
      '$setElementOrder/containers': [{ name: 'c1' }],
      containers: [
        { image: 'new', name: 'c1' },
        { $patch: 'delete', name: 'c2' },
      ],
      '$deleteFromPrimitiveList/finalizers': ['b'],
      '$setElementOrder/finalizers': ['a', 'c', 'd'],
      finalizers: ['d'],
    });
  });

  it('clears the other keys of a field that retains keys', () => {
    const modified = { ...live(), strategy: { type: 'Recreate' } };
    expect(createStrategicMergePatch(live(), modified, spec)).toEqual({
      strategy: { $retainKeys: ['type'], rolling: null, type: 'Recreate' },
    });
  });

  it('three-way: deletes what was ours, keeps what is theirs', () => {
    const original = { containers: [first(), second()], data: { a: '1', b: '2' } };
    const modified = { containers: [{ ...first(), image: 'new' }], data: { a: '1' } };
    const current = {
      containers: [first(), { ...second(), image: 'theirs' }, { name: 'sidecar' }],
      data: { a: '1', b: '2', c: '3' },
      count: 1,
    };
    const patch = createThreeWayStrategicPatch({ original, modified, current }, spec, { overwrite: true });
    expect(patch).toEqual({
      '$setElementOrder/containers': [{ name: 'c1' }],
      containers: [
        { image: 'new', name: 'c1' },
        { $patch: 'delete', name: 'c2' },
      ],
      data: { b: null },
    });
    expect(applyStrategicMergePatch(current, patch, spec)).toEqual({
      containers: [{ name: 'sidecar' }, { ...first(), image: 'new' }].toReversed(),
      data: { a: '1', c: '3' },
      count: 1,
    });
  });

  it('three-way: finds conflicts unless it overwrites', () => {
    const original = { containers: [first()], count: 1 };
    const modified = { containers: [{ ...first(), image: 'mine' }], count: 1 };
    const secondPatch = { containers: [{ ...first(), image: 'theirs' }], count: 1 };
    const otherChange = { containers: [{ ...first(), args: ['z'] }], count: 2 };
    const patch = (current: JsonObject) => createThreeWayStrategicPatch({ original, modified, current }, spec, { overwrite: false });
    expect(() => patch(secondPatch)).toThrow(PatchConflictError);
    expect(() => patch({ ...original })).not.toThrow();
    expect(() => patch(otherChange)).toThrow(PatchConflictError);
  });

  const text = fc.constantFrom('1', '2', '3');
  const unique = <T extends JsonValue>(items: fc.Arbitrary<T>, key: (item: T) => unknown) =>
    fc.uniqueArray(items, { selector: key, maxLength: 4 });
  const portOf = fc.record({ containerPort: fc.constantFrom(80, 443, 53) }, { requiredKeys: ['containerPort'] });
  const containerOf = fc.record(
    {
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      image: text,
      args: fc.array(text, { maxLength: 2 }),
      ports: unique(portOf, (p) => p.containerPort),
    },
    { requiredKeys: ['name'] },
  );
  const objectOf = fc.record(
    {
      containers: unique(containerOf, (c) => c.name),
      finalizers: fc.uniqueArray(fc.constantFrom('x', 'y', 'z', 'w')),
      data: fc.dictionary(fc.constantFrom('k', 'l'), text),
      strategy: fc.record({ type: text, rolling: fc.record({ max: text }) }, { requiredKeys: [] }),
      whole: fc.record({ a: text, b: text }, { requiredKeys: [] }),
      count: fc.integer(),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>;

  it('a patch from one object to another gives the other', () => {
    fc.assert(
      fc.property(objectOf, objectOf, (a, b) => {
        const patch = createStrategicMergePatch(a, b, spec);
        expect(normal(applyStrategicMergePatch(a, patch, spec))).toEqual(normal(b));
      }),
      { numRuns: 300 },
    );
  });

  it('a three-way patch from the state it was made from gives what was asked, and then nothing is left to do', () => {
    fc.assert(
      fc.property(objectOf, objectOf, (original, modified) => {
        const patch = createThreeWayStrategicPatch({ original, modified, current: original }, spec, { overwrite: true });
        const current = applyStrategicMergePatch(original, patch, spec);
        expect(normal(current)).toEqual(normal(modified));
        const again = createThreeWayStrategicPatch({ original: modified, modified, current }, spec, { overwrite: true });
        expect(sameJson(normal(applyStrategicMergePatch(current, again, spec)), normal(current))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('no patch crashes, pollutes prototypes or changes its input', () => {
    const key = fc.constantFrom(
      'containers',
      'finalizers',
      'data',
      'strategy',
      '$patch',
      '$retainKeys',
      '$setElementOrder/containers',
      'name',
      '__proto__',
    );
    const value = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<JsonValue>(null, 1, 'delete', 'replace', 'c1'),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(key, value), (patch) => {
        const before = JSON.stringify(patch);
        try {
          apply(patch as JsonObject);
        } catch (error) {
          expect(error).toBeInstanceOf(StrategicPatchError);
        }
        expect(JSON.stringify(patch)).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});

/** Without empty maps and lists, which a patch cannot tell from absent ones. */
function normal(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(normal);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, normal(member)] as const);
  const isEmpty = (member: JsonValue) => typeof member === 'object' && member !== null && Object.keys(member).length === 0;
  return Object.fromEntries(members.filter(([, member]) => !isEmpty(member)));
}
