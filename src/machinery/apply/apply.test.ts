import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { ObjectSchema } from '../schema.ts';
import { apply, entriesOf, example, failure, KIND, ownersOf, pod, SPEC_ONLY, stored, TIMES, update } from './apply.test-setup.ts';
import { applyPatch } from './apply-patch.ts';
import { LAST_APPLIED_ANNOTATION } from './last-applied.ts';
import { keyed, map, struct, Thing, text } from './thing.test-schema.ts';

describe('apply', () => {
  it('owns the leaves of what it creates, not what leads to them', () => {
    const object = apply(
      undefined,
      example({ metadata: { name: 'a', labels: { l: '1' } }, spec: { replicas: 1, tags: ['x'], options: {} } }),
    );
    expect(entriesOf(object)).toEqual([
      {
        manager: 'm1',
        operation: 'Apply',
        apiVersion: 'example.com/v1',
        time: TIMES[0],
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:l': {} } },
          'f:spec': { 'f:options': {}, 'f:replicas': {}, 'f:tags': { 'v:"x"': {} } },
        },
      },
    ]);
  });

  it.each<[string, JsonObject, JsonValue]>([
    [
      'items by their keys, with defaults for absent ones',
      { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
      {
        'f:containers': {
          'k:{"name":"c"}': {
            '.': {},
            'f:name': {},
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          },
        },
      },
    ],
    [
      'items without a key that is always encoded under its zero value',
      { containers: [{ image: 'i' }] },
      {
        'f:containers': { 'k:{"name":""}': { '.': {}, 'f:image': {} } },
      },
    ],
    [
      'atomic lists, maps and objects as a whole',
      { containers: [{ name: 'c', args: ['a'] }], selector: { a: 'b' }, ref: { kind: 'K' } },
      {
        'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:args': {}, 'f:name': {} } },
        'f:ref': {},
        'f:selector': {},
      },
    ],
    ['nulls, but not empty lists', { replicas: null, options: { a: null }, tags: [] }, { 'f:options': { 'f:a': {} }, 'f:replicas': {} }],
    [
      'undescribed values by what they are',
      { anything: { a: { b: [1, { c: 2 }] } }, raw: { a: 1 }, open: { declared: 'k', x: { y: 1 } } },
      {
        'f:anything': { 'f:a': { '.': {}, 'f:b': {} } },
        'f:open': { 'f:declared': {}, 'f:x': { '.': {}, 'f:y': {} } },
        'f:raw': {},
      },
    ],
  ])('owns %s', (_, spec, fields) => {
    expect(ownersOf(apply(undefined, pod(spec as Record<string, JsonValue>)))).toEqual({ 'm1 Apply': { 'f:spec': fields } });
  });

  it('shares fields that have the same value, without a time for who changed nothing', () => {
    const first = apply(undefined, pod({ replicas: 1, options: { a: '1' } }));
    const second = apply(first, pod({ options: { a: '1' } }), { manager: 'm2', now: TIMES[1] });
    expect(entriesOf(second).map(({ manager, time }) => ({ manager, time }))).toEqual([
      { manager: 'm2', time: undefined },
      { manager: 'm1', time: TIMES[0] },
    ]);
    const third = apply(second, pod({}), { now: TIMES[2] });
    expect(third.spec).toEqual({ containers: null, options: { a: '1' } });
    expect(ownersOf(third)).toEqual({ 'm1 Apply': { 'f:spec': {} }, 'm2 Apply': { 'f:spec': { 'f:options': { 'f:a': {} } } } });
  });

  it('removes what it applied before and now leaves out, keeping what others own', () => {
    const first = apply(
      undefined,
      pod({ tags: ['a', 'b'], options: { x: '1', y: '2' }, containers: [{ name: 'c', image: 'i' }, { name: 'd' }] }),
    );
    const two = apply(first, pod({ tags: ['b', 'c'], options: { y: '2' } }), { manager: 'm2' });
    const three = apply(two, pod({ tags: ['b'], containers: [{ name: 'd' }] }));
    expect(three.spec).toEqual({ tags: ['b', 'c'], options: { y: '2' }, containers: [{ name: 'd' }] });
  });

  it('that changes nothing at all returns the object itself', () => {
    const live = apply(undefined, pod({ options: { a: '1' } }));
    const again = { schema: Thing, kind: KIND, live, applied: pod({ options: { a: '1' } }), manager: 'm1', force: false, now: TIMES[2] };
    expect(applyPatch({ ...again, resetFields: SPEC_ONLY })).toBe(live);
  });

  it('leaves null where all was removed', () => {
    const first = apply(undefined, pod({ open: { declared: 'x' } }));
    expect((apply(first, pod({ open: {} })).spec as JsonObject).open).toBeNull();
  });

  it.each([
    ['in the order of the configuration', ['b', 'a'], ['a', 'b'], ['a', 'b']],
    ['new items after those they follow', ['a', 'b'], ['b', 'c'], ['a', 'b', 'c']],
    ['items of others where they were', ['x', 'a', 'y', 'b', 'z'], ['b', 'a'], ['x', 'y', 'b', 'z', 'a']],
  ])('merges lists %s', (_, live, applied, result) => {
    const first = apply(undefined, pod({ tags: live }), { manager: 'other' });
    expect((apply(first, pod({ tags: applied })).spec as JsonObject).tags).toEqual(result);
  });

  it('replaces items that share their key', () => {
    const live = stored(example({ spec: { containers: [{ name: 'c', image: '1' }, { name: 'c', image: '2' }, { name: 'd' }] } }));
    const result = apply(update(undefined, live), pod({ containers: [{ name: 'c', image: '3' }] }), { force: true });
    expect((result.spec as JsonObject).containers).toEqual([{ name: 'c', image: '3' }, { name: 'd' }]);
  });

  it('gives every field of an untracked object to a manager of its own', () => {
    const live = stored(example({ spec: { containers: null, options: { a: '1' } } }));
    expect(ownersOf(apply(live, pod({ options: { a: '1' } })))).toEqual({
      'm1 Apply': { 'f:spec': { 'f:options': { 'f:a': {} } } },
      'before-first-apply Update': { 'f:spec': { 'f:options': { '.': {}, 'f:a': {} } } },
    });
    expect(failure(() => apply(live, pod({ options: { a: '2' } }))).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.options.a',
    );
  });

  it('ignores fields that the endpoint does not write', () => {
    const live = apply(undefined, pod({ replicas: 1 }));
    const result = apply(live, example({ spec: { replicas: 2 }, status: { phase: 'Up' } }), {
      manager: 's',
      subresource: 'status',
      resetFields: [['spec']],
    });
    expect(entriesOf(result)[1]).toMatchObject({ manager: 's', subresource: 'status', fieldsV1: { 'f:status': { 'f:phase': {} } } });
  });
});

describe('conflicts', () => {
  const live = apply(
    update(undefined, pod({ containers: null, replicas: 1, options: { a: '1' } })),
    pod({ tags: ['x'], selector: { a: 'b' } }),
  );

  it('name the manager and the field', () => {
    const error = failure(() => apply(live, pod({ replicas: 2 }), { manager: 'm2' }));
    expect(error.status).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "edit" using example.com/v1: .spec.replicas',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "edit" using example.com/v1', field: '.spec.replicas' }],
      },
    });
  });

  it('are grouped by manager', () => {
    const error = failure(() => apply(live, pod({ replicas: 2, options: { a: '2' }, selector: {} }), { manager: 'm2' }));
    expect(error.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "edit" using example.com/v1:\n- .spec.replicas\n- .spec.options.a\nconflicts with "m1":\n- .spec.selector',
    );
    expect(error.causes).toHaveLength(3);
  });

  it('are taken by force, and the loser keeps the rest or is gone', () => {
    const forced = apply(live, pod({ replicas: 2, selector: { a: 'c' } }), { manager: 'm2', force: true, now: TIMES[2] });
    expect(ownersOf(forced)).toEqual({
      'm1 Apply': { 'f:spec': { 'f:tags': { 'v:"x"': {} } } },
      'm2 Apply': { 'f:spec': { 'f:replicas': {}, 'f:selector': {} } },
      'edit Update': { 'f:spec': { 'f:options': { '.': {}, 'f:a': {} } } },
    });
    expect(ownersOf(apply(forced, pod({ tags: null }), { manager: 'm3', force: true }))).toHaveProperty('m1 Apply');
  });

  it('mention the subresource', () => {
    const status = apply(live, example({ status: { phase: 'Up' } }), { manager: 's', subresource: 'status', resetFields: [['spec']] });
    const error = failure(() =>
      apply(status, example({ status: { phase: 'Down' } }), { manager: 't', subresource: 'status', resetFields: [['spec']] }),
    );
    expect(error.message).toBe('Apply failed with 1 conflict: conflict with "s" with subresource "status": .status.phase');
  });

  it('with the annotation of client-side apply are none for kubectl, which keeps it in step', () => {
    const config = pod({ replicas: 1 });
    const annotations = { [LAST_APPLIED_ANNOTATION]: `${JSON.stringify(config)}\n` };
    const live = update(
      undefined,
      { ...pod({ containers: null, replicas: 1 }), metadata: { name: 'a', annotations } },
      { manager: 'kubectl-client-side-apply' },
    );
    const applied = pod({ replicas: 2 });
    expect(failure(() => apply(live, applied, { manager: 'other' })).code).toBe(409);
    const result = apply(live, applied, { manager: 'kubectl' });
    const lastApplied = ((result.metadata as JsonObject).annotations as JsonObject)[LAST_APPLIED_ANNOTATION];
    expect(lastApplied).toBe('{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"replicas":2}}\n');
  });
});

describe('a configuration is refused', () => {
  const typed = (spec: Record<string, JsonValue>) => failure(() => apply(undefined, pod(spec)));

  it.each<[string, Record<string, JsonValue>, string]>([
    ['for unknown fields', { frob: 1 }, '.spec.frob: field not declared in schema'],
    ['for duplicate keys', { containers: [{ name: 'c' }, { name: 'c' }] }, '.spec.containers: duplicate entries for key [name="c"]'],
    [
      'for keys that are the same by default',
      { containers: [{ name: 'c', ports: [{ containerPort: 1 }, { containerPort: 1, protocol: 'TCP' }] }] },
      '.spec.containers[name="c"].ports: duplicate entries for key [containerPort=1,protocol="TCP"]',
    ],
    ['for null items', { containers: [null] }, '.spec.containers: element 0: associative list with keys may not have a null element'],
    [
      'for items of sets that are maps',
      { tags: [{}] },
      ".spec.tags: element 0: associative list without keys has an element that's a map type",
    ],
    ['for text in place of a number', { replicas: 'x' }, '.spec.replicas: expected numeric (int or float), got string'],
    ['for a number in place of text', { options: { a: 5 } }, '.spec.options.a: expected string, got &value.valueUnstructured{Value:5}'],
    ['for text in place of a list', { tags: 'x' }, '.spec.tags: expected list, got &{x}'],
    ['for a list in place of a map', { options: ['x', 1] }, '.spec.options: expected map, got &{[x 1]}'],
    ['for text in place of a boolean', { paused: 'x' }, '.spec.paused: expected boolean, got &{x}'],
    [
      'for all of them at once',
      { replicas: 'x', paused: 1 },
      'errors:\n  .spec.paused: expected boolean, got &{1}\n  .spec.replicas: expected numeric (int or float), got string',
    ],
  ])('%s', (_, spec, problem) => {
    const error = typed(spec);
    expect(error.status).toMatchObject({
      code: 500,
      message: `failed to create typed patch object (/a; example.com/v1, Kind=Thing): ${problem}`,
    });
    expect(error.reason).toBe('');
  });

  it('for items that omit every key', () => {
    const schema = struct({ apiVersion: text, kind: text, metadata: map(text), items: keyed(struct({ k: text, l: text }), 'l', 'k') });
    const error = failure(() => apply(undefined, example({ items: [{}] }), { schema }));
    expect(error.message).toContain(
      `.items: element 0: associative list with keys has an element that omits all key fields ["l" "k"] (and doesn't have default values for any key fields)`,
    );
  });

  it.each<[JsonObject, string]>([
    [{ kind: 'Thing' }, 'invalid object type: /, Kind=Thing'],
    [{ apiVersion: 'v1' }, 'invalid object type: /v1, Kind='],
    [{ apiVersion: 'example.com/v2', kind: 'Thing' }, 'invalid object type: example.com/v2, Kind=Thing'],
    [{ ...example(), metadata: { name: 'a', managedFields: [] } }, 'metadata.managedFields must be nil'],
  ])('when it is %j', (applied, message) => {
    expect(failure(() => apply(undefined, applied)).status).toMatchObject({ code: 400, reason: 'BadRequest', message });
  });

  it('when the stored owners cannot be read', () => {
    const live = example({ metadata: { managedFields: [{ operation: 'Guess' }] } });
    expect(failure(() => apply(live, pod({}))).message).toBe('failed to decode managed fields: operation must be `Apply` or `Update`');
  });
});

describe('schema and version changes', () => {
  it('a map that became atomic is owned as a whole by who owned parts of it', () => {
    const live = apply(undefined, pod({ options: { a: '1' } }));
    const spec = struct({ options: map(text, true), replicas: text, containers: text });
    const schema = struct({ apiVersion: text, kind: text, metadata: map(text), spec });
    expect(ownersOf(apply(live, pod({ options: { a: '1' } }), { schema, manager: 'm2' }))).toEqual({
      'm1 Apply': { 'f:spec': { 'f:options': {} } },
      'm2 Apply': { 'f:spec': { 'f:options': {} } },
    });
  });

  const v1 = struct({ apiVersion: text, kind: text, metadata: map(text), old: text, both: text });
  const v2 = struct({ apiVersion: text, kind: text, metadata: map(text), renamed: text, both: text });
  const rename = (object: JsonObject, [from, to]: readonly [string, string], version: string): JsonObject => {
    const { [from]: value, ...rest } = object;
    return { ...rest, apiVersion: `example.com/${version}`, ...(value !== undefined && { [to]: value }) };
  };
  const toV1 = (object: JsonObject) => rename(object, ['renamed', 'old'], 'v1');
  const toV2 = (object: JsonObject) => rename(object, ['old', 'renamed'], 'v2');
  const kind = { ...KIND, version: 'v2' };
  const versions = (apiVersion: string) =>
    apiVersion === 'example.com/v1' ? { schema: v1 as ObjectSchema, fromCurrent: toV1, toCurrent: toV2 } : undefined;
  const asV2 = { schema: v2, kind, versions };

  it('managers of another version lose what changes in their spelling of it', () => {
    const live = toV2(apply(undefined, { ...example(), old: 'x', both: 'y' }, { schema: v1 }));
    const error = failure(() => apply(live, { ...toV2(example()), renamed: 'z' }, { ...asV2, manager: 'm2' }));
    expect(error.message).toBe('Apply failed with 1 conflict: conflict with "m1": .old');
    const forced = apply(live, { ...toV2(example()), renamed: 'z' }, { ...asV2, manager: 'm2', force: true });
    expect(ownersOf(forced)).toEqual({ 'm1 Apply': { 'f:both': {} }, 'm2 Apply': { 'f:renamed': {} } });
  });

  it('an applier that changes its version prunes what it applied in the other', () => {
    const live = toV2(apply(undefined, { ...example(), old: 'x', both: 'y' }, { schema: v1 }));
    const result = apply(live, { ...toV2(example()), both: 'y' }, asV2);
    expect(result.renamed).toBeUndefined();
    expect(entriesOf(result)).toMatchObject([{ manager: 'm1', apiVersion: 'example.com/v2', fieldsV1: { 'f:both': {} } }]);
  });

  const unlike = (apiVersion: string) =>
    apiVersion === 'example.com/v1'
      ? { schema: v1 as ObjectSchema, fromCurrent: (object: JsonObject) => ({ ...object, apiVersion }), toCurrent: toV2 }
      : undefined;

  it('an object that another version has no form for is no longer tracked when it is updated', () => {
    const live = toV2(apply(undefined, { ...example(), both: 'y' }, { schema: v1 }));
    const options = { schema: v2, apiVersion: 'example.com/v2', versions: unlike };
    expect(entriesOf(update(live, { ...live, both: 'z' }, options))).toHaveLength(1);
    expect(entriesOf(update(live, { ...live, renamed: 'z' }, options))).toEqual([]);
  });

  it('an apply to such an object fails', () => {
    const live = toV2(apply(undefined, { ...example(), both: 'y' }, { schema: v1 }));
    const applied = { ...toV2(example()), renamed: 'z' };
    const error = failure(() => apply(live, applied, { schema: v2, kind, versions: unlike, manager: 'm2' }));
    expect(error.message).toBe('failed to convert new object: .renamed: field not declared in schema');
  });

  it('entries of versions that are gone are dropped', () => {
    const live = toV2(apply(undefined, { ...example(), both: 'y' }, { schema: v1 }));
    expect(ownersOf(apply(live, { ...toV2(example()), both: 'z' }, { schema: v2, kind, manager: 'm2' }))).toEqual({
      'm2 Apply': { 'f:both': {} },
    });
  });
});
