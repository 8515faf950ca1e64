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
});
