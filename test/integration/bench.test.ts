import { expect, test } from 'vitest';
import { runBenchmark, SharedRuns } from '../bench/harness.ts';

const work = (rounds: number) => () => {
  let sum = 0;
  for (let i = 0; i < rounds; i++) sum += Math.sqrt(i);
  return sum;
};

test('a micro benchmark puts its figure beside the baseline: a hundred times the work is slower', async () => {
  const result = await runBenchmark({
    kind: 'micro',
    name: 'loops',
    baseline: { name: 'short', run: work(100) },
    subject: { name: 'long', run: work(10_000) },
  });
  expect(result).toMatchObject({ name: 'loops', unit: 'ns/op', better: 'lower', baseline: { name: 'short' }, subject: { name: 'long' } });
  expect(result.ratio).toBeLessThan(0.5);
});

test.each([
  ['lower', 2],
  ['higher', 0.5],
] as const)('a ratio above 1 is better when %s is', async (better, ratio) => {
  const contender = (name: string, figures: number[]) => ({ name, measure: async () => figures.shift() as number });
  const result = await runBenchmark({
    kind: 'macro',
    name: 'x',
    unit: 's',
    better,
    rounds: 3,
    baseline: contender('theirs', [9, 10, 11]),
    subject: contender('ours', [5, 4, 6]),
  });
  expect(result).toMatchObject({ ratio, baseline: { median: 10, p25: 9, p75: 11 }, subject: { median: 5 } });
});

test.each([
  ['nothing at all', 0, 0, 1],
  ['nothing where the baseline is something', 2, 0, Number.MAX_VALUE],
  ['something where the baseline is nothing', 0, 2, 0],
])('a ratio is a number also of %s', async (_, theirs, ours, ratio) => {
  const contender = (name: string, value: number) => ({ name, measure: async () => value });
  const shape = { kind: 'macro', name: 'x', unit: 's', better: 'lower', rounds: 1 } as const;
  const result = await runBenchmark({ ...shape, baseline: contender('theirs', theirs), subject: contender('ours', ours) });
  expect(result.ratio).toBe(ratio);
});

test('figures of one run share it, round by round', async () => {
  let runs = 0;
  const shared = new SharedRuns(async () => ({ number: ++runs }));
  const figures = [shared.figure('plain', ({ number }) => number), shared.figure('tenfold', ({ number }) => number * 10)];
  const measured: number[][] = [];
  for (const { measure } of figures) measured.push([await measure(), await measure()]);
  expect(measured).toEqual([
    [1, 2],
    [10, 20],
  ]);
  expect(runs).toBe(2);
});
