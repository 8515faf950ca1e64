import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type KeyOrder, pointOrder, unitOrder } from '../key-order.ts';
import { PersistentMap } from './persistent-map.ts';

const numberOrder: KeyOrder<number> = (a, b) => a - b;

type Step = { readonly set?: number; readonly remove?: number };

const steps = fc.array(
  fc.oneof(
    fc.nat(300).map((key): Step => ({ set: key })),
    fc.nat(300).map((key): Step => ({ remove: key })),
  ),
  { maxLength: 600 },
);

function entriesOf<K, V>(map: PersistentMap<K, V>, start?: K): [K, V][] {
  const entries: [K, V][] = [];
  map.visit(start, (key, value) => entries.push([key, value]) > 0);
  return entries;
}

describe('a persistent map', () => {
  test('built from sorted keys equals one made by setting them', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(2000), { maxLength: 1500 }), steps, (initial, history) => {
        const keys = initial.toSorted((a, b) => a - b);
        let map = PersistentMap.fromSorted(
          numberOrder,
          keys,
          keys.map((key) => -key),
        );
        const model = new Map(keys.map((key) => [key, -key]));
        for (const [i, { set, remove }] of history.entries()) {
          map = set !== undefined ? map.set(set, i) : map.delete(remove!);
          if (set !== undefined) model.set(set, i);
          else model.delete(remove!);
        }
        const expected = [...model].sort(([a], [b]) => a - b);
        expect(entriesOf(map)).toEqual(expected);
        expect(map.size).toBe(expected.length);
        for (const key of keys) {
          expect(map.get(key)).toBe(model.get(key));
          expect(map.rank(key)).toBe(expected.filter(([other]) => other < key).length);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('holds what a Map would hold, in order', () => {
    fc.assert(
      fc.property(steps, (history) => {
        let map = PersistentMap.empty<number, number>(numberOrder);
        const model = new Map<number, number>();
        for (const [i, { set, remove }] of history.entries()) {
          if (set !== undefined) {
            map = map.set(set, i);
            model.set(set, i);
          } else {
            map = map.delete(remove!);
            model.delete(remove!);
          }
        }
        const expected = [...model].sort(([a], [b]) => a - b);
        expect(entriesOf(map)).toEqual(expected);
        expect(map.size).toBe(expected.length);
        for (const probe of [0, 7, 150, 299, 301]) {
          expect(map.get(probe)).toBe(model.get(probe));
          expect(map.rank(probe)).toBe(expected.filter(([key]) => key < probe).length);
          expect(entriesOf(map, probe)).toEqual(expected.filter(([key]) => key >= probe));
        }
      }),
      { numRuns: 150 },
    );
  });

  test('leaves every earlier version as it was', () => {
    let map = PersistentMap.empty<number, string>(numberOrder);
    const versions = [map];
    for (let i = 0; i < 500; i++) {
      map = i % 3 === 2 ? map.delete((i * 7) % 200) : map.set((i * 13) % 200, `v${i}`);
      versions.push(map);
    }
    const first = versions.map((version) => entriesOf(version));
    for (let i = 0; i < 300; i++) map = map.set(i, 'later');
    expect(versions.map((version) => entriesOf(version))).toEqual(first);
  });

  test('grows at its end without leaving half-empty nodes', () => {
    let map = PersistentMap.empty<number, number>(numberOrder);
    for (let i = 0; i < 10_000; i++) map = map.set(i, i);
    expect(map.size).toBe(10_000);
    for (let i = 0; i < 9_990; i++) map = map.delete(i);
    expect(entriesOf(map).map(([key]) => key)).toEqual(Array.from({ length: 10 }, (_, i) => 9_990 + i));
  });

  test('stops a visit when the visitor returns false', () => {
    let map = PersistentMap.empty<number, number>(numberOrder);
    for (let i = 0; i < 100; i++) map = map.set(i, i);
    const seen: number[] = [];
    map.visit(40, (key) => seen.push(key) < 5);
    expect(seen).toEqual([40, 41, 42, 43, 44]);
  });
});

test('keys are ordered by their UTF-8 bytes', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const expected = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(Math.sign(pointOrder(a, b))).toBe(expected);
      if (!/[\ud800-\uffff]/.test(a + b)) expect(Math.sign(unitOrder(a, b))).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});
