import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IndexSet } from './index-set.ts';

describe('a set of indexes', () => {
  it.each([
    ['', []],
    ['1', [1]],
    ['1,2', [1, 2]],
    ['1,3-5,7', [1, 3, 4, 5, 7]],
  ])('is written as "%s"', (text, indexes) => {
    expect(IndexSet.empty.with(indexes).toString()).toBe(text);
  });

  it('reads what it writes, without what is beyond the limit', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(60)), fc.nat(60), (indexes, limit) => {
        const read = IndexSet.parse(IndexSet.empty.with(indexes).toString(), limit);
        expect(read.size).toBe(indexes.filter((index) => index < limit).length);
        for (const index of indexes) expect(read.has(index)).toBe(index < limit);
      }),
    );
  });

  it('skips what it holds, and counts what it shares with another', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(40)), fc.uniqueArray(fc.nat(40)), fc.nat(40), (left, right, from) => {
        const set = IndexSet.empty.with(left);
        let absent = from;
        while (left.includes(absent)) absent++;
        expect(set.nextAbsent(from)).toBe(absent);
        expect(set.countIn(IndexSet.empty.with(right))).toBe(left.filter((index) => right.includes(index)).length);
      }),
    );
  });

  it('holds two billion indexes as it holds two', () => {
    const set = IndexSet.parse('0-1000000000,1000000002-2147483646', 2 ** 31);
    expect(set.size).toBe(2147483646);
    expect(set.nextAbsent(5)).toBe(1000000001);
    expect(set.with([1000000001]).toString()).toBe('0-2147483646');
    expect(set.countIn(set)).toBe(2147483646);
  });
});
