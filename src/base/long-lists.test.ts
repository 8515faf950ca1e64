import { describe, expect, test } from 'vitest';
import { itemNamed, itemsNamed, itemsNotIn, maxOf, mergeAll, minOf, pushAll } from './long-lists.ts';

const LONG = Array.from({ length: 500_000 }, (_, i) => i);

describe('lists longer than the stack', () => {
  test('are added to others in order', () => {
    const target = [-1];
    pushAll(target, LONG, new Set([7]));
    expect([target.length, target[0], target[500_000], target.at(-1)]).toEqual([500_002, -1, 499_999, 7]);
  });

  test('have a largest and a smallest value', () => {
    expect([maxOf(LONG), minOf(LONG), maxOf(LONG, 1e6), minOf(LONG, -1)]).toEqual([499_999, 0, 1e6, -1]);
  });

  test('are merged', () => {
    expect(Object.keys(mergeAll(LONG.map((i) => ({ [`k${i % 10}`]: i }))))).toHaveLength(10);
  });
});

test('maxOf and minOf return what Math.max and Math.min do, for no values and NaN too', () => {
  expect([maxOf([]), minOf([]), maxOf([1, Number.NaN, 2]), minOf([Number.NaN, 1])]).toEqual([-Infinity, Infinity, Number.NaN, Number.NaN]);
});

test('mergeAll lets later members win, and skips undefined', () => {
  expect(mergeAll<Record<string, number>>([{ a: 1, b: 1 }, undefined, { b: 2 }])).toEqual({ a: 1, b: 2 });
});

test.each([3, 1000])('itemsByName finds items with a name in order, in a list of %i', (length) => {
  const items = Array.from({ length }, (_, i) => ({ name: i === length - 1 ? 'n0' : `n${i}`, i }));
  expect(itemsNamed(items, 'n0').map(({ i }) => i)).toEqual([0, length - 1]);
  expect([itemNamed(items, 'n0')?.i, itemNamed(items, 'n1')?.i, itemNamed(items, 'none')]).toEqual([0, 1, undefined]);
  expect(itemsNamed(items, 'none')).toEqual([]);
});

test.each([3, 1000])('itemsNotIn returns items of the first list only, for lists of %i', (length) => {
  const items = Array.from({ length }, (_, i) => i);
  expect(itemsNotIn(items, items.slice(1))).toEqual([0]);
});
