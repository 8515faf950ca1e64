import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StreamTable } from './stream-table.ts';

test('a stream table has the streams of a Map after the same changes', () => {
  const change = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 80 }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 300 }), (changes) => {
      const table = new StreamTable<{ readonly id: number }>();
      const map = new Map<number, { readonly id: number }>();
      for (const [isAdded, number] of changes) {
        // Many share a slot of a small table.
        const id = 32 * number + 1;
        if (!isAdded) {
          table.delete(id);
          map.delete(id);
        } else if (!map.has(id)) {
          map.set(id, { id });
          table.add(map.get(id)!);
        }
      }
      expect(table.size).toBe(map.size);
      for (let number = 0; number <= 80; number++) expect(table.get(32 * number + 1)).toBe(map.get(32 * number + 1));
      expect(new Set(table.values())).toEqual(new Set(map.values()));
    }),
  );
});
