import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fifo, Lru, VirtualClock } from '#base';

describe('a fifo', () => {
  const command = fc.oneof(
    fc.record({ do: fc.constant('push' as const), value: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ do: fc.constant('shift' as const) }),
    fc.record({ do: fc.constant('delete' as const), value: fc.integer({ min: 0, max: 5 }) }),
  );

  test('property: behaves as an array', () => {
    fc.assert(
      fc.property(fc.array(command), (commands) => {
        const fifo = new Fifo<number>();
        const model: number[] = [];
        for (const step of commands) {
          if (step.do === 'push') {
            fifo.push(step.value);
            model.push(step.value);
          } else if (step.do === 'shift') {
            expect(fifo.shift()).toBe(model.shift());
          } else {
            const index = model.indexOf(step.value);
            if (index !== -1) model.splice(index, 1);
            expect(fifo.delete(step.value)).toBe(index !== -1);
          }
          expect([...fifo]).toEqual(model);
          expect(fifo.size).toBe(model.length);
          expect(fifo.peek()).toBe(model[0]);
        }
      }),
    );
  });

  test('keeps order across its compaction', () => {
    const fifo = new Fifo<number>();
    for (let i = 0; i < 5_000; i++) fifo.push(i);
    for (let i = 0; i < 4_000; i++) expect(fifo.shift()).toBe(i);
    expect([fifo.size, fifo.peek()]).toEqual([1_000, 4_000]);
  });
});

describe('an LRU', () => {
  test('forgets the least recently used entry, and tells of it', () => {
    const evicted: string[] = [];
    const lru = new Lru<string, number>({ capacity: 2, onEvict: (key) => evicted.push(key) });
    lru.set('a', 1);
    lru.set('b', 2);
    lru.get('a');
    lru.has('b');
    lru.set('c', 3);
    expect([...lru.keys()]).toEqual(['a', 'c']);
    lru.set('a', 4);
    lru.set('d', 5);
    expect([...lru.keys()]).toEqual(['a', 'd']);
    expect(evicted).toEqual(['b', 'c']);
    expect([lru.get('a'), lru.get('b'), lru.size]).toEqual([4, undefined, 2]);
  });

  test('counts entries past their time as absent', async () => {
    const clock = new VirtualClock();
    const lru = new Lru<string, number>({ capacity: 9, ttlMs: 100, clock });
    lru.set('short', 1);
    lru.set('long', 2, 200);
    await clock.advance(99);
    expect([lru.get('short'), lru.get('long')]).toEqual([1, 2]);
    await clock.advance(1);
    expect([lru.get('short'), lru.get('long')]).toEqual([undefined, 2]);
    expect(lru.size).toBe(1);
  });

  test('refuses options that cannot work', () => {
    expect(() => new Lru({ capacity: 0 })).toThrow('at least 1');
    expect(() => new Lru({ capacity: 1, ttlMs: 5 })).toThrow('needs a clock');
  });
});
