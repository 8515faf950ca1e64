import { expect, test } from 'vitest';
import { runBenchmark } from '../bench/harness.ts';

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
