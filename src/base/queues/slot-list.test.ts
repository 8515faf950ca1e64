import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlotList } from './slot-list.ts';

test('a slot list has the items of a Set after the same changes', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9))), (changes) => {
      const items = Array.from({ length: 10 }, (_, id) => ({ id, slot: -1 }));
      const list = new SlotList<(typeof items)[number]>();
      const set = new Set<(typeof items)[number]>();
      for (const [isAdded, id] of changes) {
        const item = items[id]!;
        if (!isAdded) expect(list.delete(item)).toBe(set.delete(item));
        else if (!set.has(item)) {
          list.add(item);
          set.add(item);
        }
      }
      expect(list.size).toBe(set.size);
      expect(new Set(list)).toEqual(set);
    }),
  );
});
