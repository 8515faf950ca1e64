import { describe, expect, test } from 'vitest';
import { type Random, seededRandom, systemRandom } from '#base';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function sample(random: Random): unknown[] {
  return [
    random.float(),
    random.int(1000),
    random.pick(['x', 'y', 'z']),
    random.string('abc', 8),
    random.uuid(),
    random.shuffle([1, 2, 3, 4]),
  ];
}

describe.each([
  ['seeded', () => seededRandom('seed')],
  ['system', () => systemRandom],
])('a %s source of chance', (_name, make) => {
  test('keeps within its bounds and reaches every value', () => {
    const random = make();
    const seen = new Set<number>();
    for (let i = 0; i < 2_000; i++) {
      const float = random.float();
      expect(float >= 0 && float < 1).toBe(true);
      seen.add(random.int(7));
    }
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('is fair enough that no value is twice as likely as another', () => {
    const random = make();
    const counts = new Array<number>(5).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const drawn = random.int(5);
      counts[drawn] = (counts[drawn] as number) + 1;
    }
    expect(Math.max(...counts)).toBeLessThan(2 * Math.min(...counts));
  });

  test('makes strings, bytes, UUIDs and shuffles of the right shape', () => {
    const random = make();
    expect(random.string('bcdf', 12)).toMatch(/^[bcdf]{12}$/);
    expect(random.bytes(16)).toHaveLength(16);
    expect(random.uuid()).toMatch(UUID_V4);
    const items = [1, 2, 3, 4, 5, 6];
    expect(random.shuffle(items).toSorted()).toEqual(items);
  });

  test('refuses what has no answer', () => {
    const random = make();
    expect(() => random.pick([])).toThrow('empty list');
    expect(() => random.int(0)).toThrow('not between');
  });
});

describe('a seeded source', () => {
  test('repeats itself for the same seed, and only for it', () => {
    expect(sample(seededRandom(42))).toEqual(sample(seededRandom(42)));
    expect(sample(seededRandom(42))).not.toEqual(sample(seededRandom(43)));
    expect(sample(seededRandom('a'))).not.toEqual(sample(seededRandom('b')));
  });
});
