import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocateConcurrency } from './allocate-concurrency.ts';
import { RetryAfter } from './retry-after.ts';
import { SeatDemand } from './seat-demand.ts';

describe('seats', () => {
  test.each([
    [
      'go by demand',
      100,
      [
        [30, 0, 100],
        [10, 0, 100],
      ],
      [75, 25],
    ],
    [
      'stay with who may not lend them',
      100,
      [
        [90, 0, 100],
        [60, 60, 100],
      ],
      [40, 60],
    ],
    [
      'stop where one may not borrow more',
      100,
      [
        [50, 0, 20],
        [50, 0, 100],
      ],
      [20, 80],
    ],
    [
      'are shared by those who ask for nothing',
      10,
      [
        [0, 0, 10],
        [0, 0, 10],
      ],
      [5, 5],
    ],
  ])('%s', (_, total, claims, expected) => {
    const claimants = (claims as number[][]).map(([target = 0, lowest = 0, highest = 0]) => ({ target, lowest, highest }));
    expect(allocateConcurrency(total, claimants).map((seats) => Math.round(seats))).toEqual(expected);
  });

  test('are all given, within bounds, in one proportion for all whom no bound stops', () => {
    const claimant = fc
      .record({ lowest: fc.integer({ min: 0, max: 50 }), more: fc.integer({ min: 0, max: 50 }), room: fc.integer({ min: 0, max: 200 }) })
      .map(({ lowest, more, room }) => ({ lowest, target: lowest + more, highest: lowest + room }));
    fc.assert(
      fc.property(fc.array(claimant, { minLength: 1, maxLength: 8 }), fc.double({ min: 0, max: 1, noNaN: true }), (claimants, part) => {
        const [least, most] = [
          claimants.reduce((sum, { lowest }) => sum + lowest, 0),
          claimants.reduce((sum, { highest }) => sum + highest, 0),
        ];
        const total = least + part * (most - least);
        const seats = allocateConcurrency(total, claimants);
        expect(seats.reduce((sum, share) => sum + share, 0)).toBeCloseTo(total, 4);
        const free = claimants.flatMap(({ lowest, highest, target }, i) => {
          expect(seats[i]!).toBeGreaterThanOrEqual(lowest - 1e-6);
          expect(seats[i]!).toBeLessThanOrEqual(highest + 1e-6);
          return seats[i]! > lowest + 1e-4 && seats[i]! < highest - 1e-4 ? [seats[i]! / Math.max(target, 0.001)] : [];
        });
        for (const proportion of free) expect(proportion / free[0]!).toBeCloseTo(1, 3);
      }),
    );
  });
});

test('seat demand rises at once and decays slowly', () => {
  const demand = new SeatDemand(0);
  demand.set(10, 0);
  expect(demand.period(10_000)).toMatchObject({ highWatermark: 10, average: 10, deviation: 0, smoothed: 10 });
  demand.set(0, 10_000);
  const { average, smoothed } = demand.period(20_000);
  expect([average, smoothed]).toEqual([0, 9.77]);
});

test('Retry-After increases with rejections and decreases without them', () => {
  const retry = new RetryAfter();
  const limits: number[] = [];
  for (let second = 1; second <= 40; second++) {
    for (let i = 0; i < 100; i++) retry.note(second * 1000);
    limits.push(retry.seconds);
  }
  expect([limits[0], Math.max(...limits)]).toEqual([1, 32]);
  for (let second = 100; second < 400; second += 50) retry.note(second * 1000);
  expect(retry.seconds).toBeLessThan(32);
});
