import { describe, expect, test } from 'vitest';
import { patience, SEED, times } from '../length.ts';
import { runHistory } from './run-history.ts';

// A few seconds each on an idle machine, many times that on one that runs other tests.
const timeout = patience(300_000);
const seeds = Array.from({ length: times(3, 5_000) }, (_, i) => `${SEED} ${i}`);

describe('a cluster to which anything happens', () => {
  test.each(seeds)('keeps its promises at every revision, and comes to what is wanted (seed %s)', { timeout }, async (seed) => {
    await runHistory({ seed, steps: 60 });
  });

  test('goes the same way again from the same seed', { timeout }, async () => {
    const options = { seed: `${SEED} again`, steps: 25 };
    const { writes } = await runHistory(options);
    expect((await runHistory(options)).writes).toEqual(writes);
  });
});
