import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EMPTY_SET, setOfPaths, setsEqual, union, unionOf } from './field-set.ts';
import { newOwner, type Owner, type Owners } from './owners.ts';
import { capUpdaters } from './ownership.ts';

function updater(index: number, apiVersion = 'v1'): Owner {
  const time = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  const set = setOfPaths([['f:data', `f:key${index}`]]);
  return newOwner({ manager: `manager${index}`, operation: 'Update', apiVersion, subresource: '' }, set, time);
}

function ownersOf(owners: readonly Owner[]): Owners {
  return new Map(owners.map((owner) => [owner.id, owner]));
}

it('ten thousand updaters are merged to ten without losing fields', () => {
  const owners = Array.from({ length: 10_000 }, (_, i) => updater(i));
  const capped = [...capUpdaters(ownersOf(owners)).values()];
  expect(capped).toHaveLength(10);
  const bucket = capped.find(({ manager }) => manager === 'ancient-changes');
  expect(Object.keys(bucket?.set['f:data'] ?? {})).toHaveLength(9991);
  expect(bucket?.time).toBe(owners[9990]?.time);
});

it('merged updaters are kept per version', () => {
  const owners = Array.from({ length: 14 }, (_, i) => updater(i, i % 2 === 0 ? 'v1' : 'v2'));
  const buckets = [...capUpdaters(ownersOf(owners)).values()].filter(({ manager }) => manager === 'ancient-changes');
  expect(buckets.map(({ apiVersion }) => apiVersion).sort()).toEqual(['v1', 'v2']);
});

it('the union of many field sets equals repeated unions', () => {
  const path = fc.array(fc.constantFrom('f:a', 'f:b', 'f:c'), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fc.array(path, { maxLength: 4 }), { maxLength: 9 }), (lists) => {
      const sets = lists.map(setOfPaths);
      expect(setsEqual(unionOf(sets), sets.reduce(union, EMPTY_SET))).toBe(true);
    }),
  );
});
