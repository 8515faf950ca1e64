import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Heap, KeyedHeap } from '#base';

const ascending = (a: number, b: number) => a - b;

function drain<T>(heap: { pop(): T | undefined }): T[] {
  const items: T[] = [];
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) items.push(item);
  return items;
}

describe('a heap', () => {
  test('property: hands items out in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (items) => {
        const heap = new Heap(ascending);
        for (const item of items) heap.push(item);
        expect(heap.size).toBe(items.length);
        expect(drain(heap)).toEqual(items.toSorted(ascending));
      }),
    );
  });

  test('property: stays in order when items are removed from or replaced in the middle', () => {
    const edits = fc.array(fc.record({ at: fc.nat(30), to: fc.option(fc.integer(), { nil: undefined }) }));
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1, maxLength: 30 }), edits, (items, changes) => {
        const heap = new Heap(ascending);
        for (const item of items) heap.push(item);
        for (const { at, to } of changes) {
          if (to === undefined) heap.removeAt(at);
          else if (at < heap.size) heap.replaceAt(at, to);
        }
        const left = [...heap].sort(ascending);
        expect(drain(heap)).toEqual(left);
      }),
    );
  });

  test('is empty when empty', () => {
    const heap = new Heap(ascending);
    expect([heap.size, heap.peek(), heap.pop(), heap.removeAt(3)]).toEqual([0, undefined, undefined, undefined]);
    expect(() => heap.replaceAt(0, 1)).toThrow('no item at 0');
  });
});

interface Job {
  name: string;
  priority: number;
}

describe('a keyed heap', () => {
  const command = fc.oneof(
    fc.record({
      do: fc.constant('set' as const),
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      priority: fc.integer({ min: 0, max: 9 }),
    }),
    fc.record({ do: fc.constant('delete' as const), name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }),
    fc.record({ do: fc.constant('pop' as const) }),
  );

  test('property: behaves as a map that is sorted at each pop', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const heap = new KeyedHeap<string, Job>({ keyOf: (job) => job.name, compare: (a, b) => a.priority - b.priority });
        const model = new Map<string, Job>();
        for (const step of commands) {
          if (step.do === 'set') {
            const job = { name: step.name, priority: step.priority };
            heap.set(job);
            model.set(job.name, job);
          } else if (step.do === 'delete') {
            expect(heap.delete(step.name)).toBe(model.delete(step.name));
          } else {
            const least = Math.min(...[...model.values()].map((job) => job.priority));
            const popped = heap.pop();
            if (model.size === 0) expect(popped).toBeUndefined();
            else expect(popped?.priority).toBe(least);
            if (popped) model.delete(popped.name);
          }
          expect(heap.size).toBe(model.size);
          for (const name of 'abcdef') expect(heap.get(name)).toBe(model.get(name));
        }
      }),
    );
  });
});
