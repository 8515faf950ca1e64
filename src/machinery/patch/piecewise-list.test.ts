import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import { PiecewiseList } from './piecewise-list.ts';

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

function itemsOf(list: PiecewiseList): JsonValue[] {
  const items: JsonValue[] = ['to be replaced'];
  list.writeTo(items);
  return items;
}

test('a piecewise list changes like an array', () => {
  const change = fc.record({ kind: fc.constantFrom('insert', 'remove', 'set'), at: fc.double({ min: 0, max: 1, noNaN: true }) });
  fc.assert(
    fc.property(fc.nat(10_000), fc.array(change, { maxLength: 200 }), (length, changes) => {
      const array: JsonValue[] = range(length);
      const list = new PiecewiseList(array.slice());
      for (const [i, { kind, at }] of changes.entries()) {
        const index = Math.floor(at * array.length);
        if (kind === 'insert') {
          array.splice(index, 0, `${i}`);
          list.insert(index, `${i}`);
        } else if (index < array.length && kind === 'remove') {
          array.splice(index, 1);
          list.remove(index);
        } else if (index < array.length) {
          array[index] = `${i}`;
          list.set(index, `${i}`);
        }
        expect([list.length, list.at(index)]).toEqual([array.length, array[index]]);
      }
      expect(itemsOf(list)).toEqual(array);
    }),
    { numRuns: 50 },
  );
});

test('a piecewise list grows from empty and shrinks to empty', () => {
  const list = new PiecewiseList([]);
  for (let i = 0; i < 5000; i++) list.insert(0, i);
  expect(itemsOf(list)).toEqual(range(5000).reverse());
  for (let i = 0; i < 5000; i++) list.remove(list.length - 1);
  expect(itemsOf(list)).toEqual([]);
  list.insert(0, 'a');
  expect(itemsOf(list)).toEqual(['a']);
});
