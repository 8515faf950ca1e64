import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { apply, entriesOf, example, ownersOf, pod, stored, TIMES, update } from './apply.test-setup.ts';
import { keyed, map, struct, text } from './thing.test-schema.ts';

describe('an update', () => {
  const spec = { containers: [{ name: 'c', resources: {} }], options: { a: '1' }, tags: ['x'] };
  const created = update(undefined, example({ spec, status: {} }), { now: TIMES[0] });

  it('owns all that it creates, and what led to it unless that is always there', () => {
    expect(ownersOf(created)).toEqual({
      'edit Update': {
        'f:spec': {
          'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:resources': {} } },
          'f:options': { '.': {}, 'f:a': {} },
          'f:tags': { '.': {}, 'v:"x"': {} },
        },
      },
    });
  });

  it('takes what it changes from others, and adds it to its own earlier entry', () => {
    const live = apply(created, pod({ replicas: 1, tags: ['y'] }));
    const changed = { ...live, spec: { ...(live.spec as JsonObject), replicas: 2, options: { b: '2' } } };
    const result = update(live, changed, { now: TIMES[2] });
    expect(ownersOf(result)).toEqual({
      'm1 Apply': { 'f:spec': { 'f:tags': { 'v:"y"': {} } } },
      'edit Update': {
        'f:spec': {
          'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:resources': {} } },
          'f:options': { '.': {}, 'f:b': {} },
          'f:replicas': {},
          'f:tags': { '.': {}, 'v:"x"': {} },
        },
      },
    });
    expect(entriesOf(result)[1]?.time).toBe(TIMES[2]);
  });

  it('of more names than fit into the store fails as the store would', () => {
    const options = Object.fromEntries(Array.from({ length: 130_000 }, (_, i) => [`key-${i}`, 'v']));
    const large = () => update(created, { ...created, spec: { ...spec, options } });
    expect(large).toThrow(expect.objectContaining({ code: 500, message: 'etcdserver: request is too large' }) as Error);
  });

  it('that changes nothing keeps entries and times', () => {
    const result = update(created, { ...created }, { manager: 'other', now: TIMES[3] });
    expect(entriesOf(result)[0]).toBe(entriesOf(created)[0]);
  });

  it('without managedFields keeps those that are stored', () => {
    const { managedFields: _, ...bare } = created.metadata as JsonObject;
    expect(ownersOf(update(created, { ...created, metadata: bare }))).toEqual(ownersOf(created));
  });

  it.each<[string, JsonValue]>([
    ['an empty list', []],
    ['one empty entry', [{}]],
    [
      'entries of versions that do not exist',
      [{ manager: 'x', operation: 'Update', apiVersion: 'v9', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } }],
    ],
    [
      'entries without fields',
      [{ manager: 'x', operation: 'Update', apiVersion: 'example.com/v1', fieldsType: 'FieldsV1', fieldsV1: { 'q:x': {} } }],
    ],
  ])('with %s forgets all owners', (_, managedFields) => {
    const result = update(created, { ...created, metadata: { ...(created.metadata as JsonObject), managedFields } });
    expect((result.metadata as JsonObject).managedFields).toBeUndefined();
  });

  it('of an object that is not tracked does not begin to track it', () => {
    const untracked = stored(pod({ containers: null }));
    expect(entriesOf(update(untracked, pod({ containers: null, replicas: 2 })))).toEqual([]);
  });

  it.each<[string, JsonValue]>([
    ['another fieldsType', [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV2' }]],
    ['no operation', [{ manager: 'x', apiVersion: 'v1', fieldsType: 'FieldsV1' }]],
    ['broken fields', [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { x: {} } }]],
  ])('ignores owners with %s', (_, managedFields) => {
    const result = update(created, { ...created, metadata: { ...(created.metadata as JsonObject), managedFields } });
    expect(ownersOf(result)).toEqual(ownersOf(created));
  });

  it('through a subresource ignores the owners that the client sent, and fields it does not write', () => {
    const sent = { ...created, status: { phase: 'Up' }, metadata: { ...(created.metadata as JsonObject), managedFields: [] } };
    const result = update(created, sent, { manager: 'kubelet', subresource: 'status', resetFields: [['spec']] });
    expect(ownersOf(result)).toEqual({ ...ownersOf(created), 'kubelet Update': { 'f:status': { 'f:phase': {} } } });
  });

  it('writes only matching fields where an endpoint says which', () => {
    const next = {
      ...created,
      spec: {
        ...(created.spec as JsonObject),
        replicas: 7,
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }],
      },
    };
    const result = update(created, next, {
      manager: 'r',
      subresource: 'resize',
      resetFields: undefined,
      onlyFields: [['spec', 'containers', '*', 'resources']],
    });
    expect(ownersOf(result)['r Update']).toEqual({
      'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:resources': { 'f:requests': { '.': {}, 'f:cpu': {} } } } } },
    });
  });

  it('stops tracking an object whose list items cannot be told apart', () => {
    const schema = struct({ metadata: map(text), items: keyed(struct({ k: text }), 'k') });
    expect(entriesOf(update(undefined, { metadata: { name: 'a' }, items: [{}] }, { schema }))).toEqual([]);
  });

  it('merges the oldest of more than ten updaters', () => {
    let object = created;
    for (let i = 0; i < 12; i++) {
      const spec = { ...(object.spec as JsonObject), options: { [`k${i}`]: '1', ...((object.spec as JsonObject).options as JsonObject) } };
      object = update(object, { ...object, spec }, { manager: `m${i}`, now: `2026-01-02T00:00:${String(i).padStart(2, '0')}Z` });
    }
    const updaters = entriesOf(object).filter((entry) => entry.operation === 'Update');
    expect(updaters).toHaveLength(10);
    expect(updaters[0]).toMatchObject({ manager: 'ancient-changes', time: '2026-01-02T00:00:02Z' });
    expect(updaters[0]?.fieldsV1?.['f:spec']?.['f:options']).toEqual({ '.': {}, 'f:a': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} });
  });

  it('sorts entries by operation, time and name', () => {
    let object = update(undefined, pod({ containers: null }), { now: TIMES[0] });
    object = apply(object, pod({ replicas: 1 }), { manager: 'z', now: TIMES[1] });
    object = apply(object, pod({ options: { a: '1' } }), { manager: 'b', now: TIMES[0] });
    object = apply(object, pod({ options: { b: '1' } }), { manager: 'a', now: TIMES[0] });
    expect(entriesOf(object).map((entry) => entry.manager)).toEqual(['a', 'b', 'z']);
  });
});
