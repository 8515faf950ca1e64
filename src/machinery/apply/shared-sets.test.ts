import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json-value.ts';
import type { FieldSet } from './field-set.ts';
import type { Shape } from './shape.ts';
import { isMadeFor, SharedSets, sharedText } from './shared-sets.ts';

const status = (address: string): FieldSet => ({
  'f:status': {
    'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
    'f:podIPs': { '.': {}, [`k:{"ip":"${address}"}`]: { '.': {}, 'f:ip': {} } },
  },
});

describe('sets of fields', () => {
  it('are the very same for objects that have the same fields', () => {
    const sets = SharedSets.of({});
    const first = sets.share(status('10.0.0.1'));
    expect(sets.share(status('10.0.0.1'))).toBe(first);
    expect(sets.share(first)).toBe(first);
    expect(first).toEqual(status('10.0.0.1'));
  });

  it('share the nodes that they have alike', () => {
    const sets = SharedSets.of({});
    const [first, second] = [sets.share(status('10.0.0.1')), sets.share(status('10.0.0.2'))];
    expect(second).toEqual(status('10.0.0.2'));
    expect(second['f:status']!['f:conditions']).toBe(first['f:status']!['f:conditions']);
    expect(Object.values(second['f:status']!['f:podIPs']!)[1]).toBe(Object.values(first['f:status']!['f:podIPs']!)[1]);
  });

  it('keep their text from the second time on that they are asked for', () => {
    const shape: Shape = {};
    const sets = SharedSets.of(shape);
    const set = sets.share(status('10.0.0.1'));
    expect(sharedText(set)).toBeUndefined();
    expect(isMadeFor(set, shape)).toBe(true);
    sets.share(status('10.0.0.1'));
    expect(sharedText(set)).toBe(JSON.stringify(status('10.0.0.1')));
  });

  it('of new objects are the same whatever stands in an atomic map, unless it is empty', () => {
    const atomic: Shape = { map: { atomic: true, fields: new Map(), values: { scalar: 'untyped' } } };
    const shape: Shape = { map: { atomic: false, fields: new Map(), values: atomic } };
    const sets = SharedSets.of(shape);
    let computed = 0;
    const created = (reference: JsonObject) =>
      sets.created({ involvedObject: reference }, undefined, () => {
        computed++;
        return { 'f:involvedObject': {} };
      });
    const first = created({ name: 'a', uid: '1' });
    expect(created({ name: 'b', uid: '2' })).toBe(first);
    expect(computed).toBe(1);
    created({});
    created({ name: '', uid: '' });
    expect(computed).toBe(3);
  });
});
