import { describe, expect, test } from 'vitest';
import { patience, SEED, times } from '../length.ts';
import { runHistory } from './run-history.ts';

const STEPS = 60;

describe(`a cluster to which anything happens (seed ${SEED})`, () => {
  test('keeps its promises at every revision, and comes to what is wanted', { timeout: patience(60_000) }, async () => {
    for (let i = 0; i < times(4, 5_000); i++) await runHistory({ seed: `${SEED} ${i}`, steps: STEPS });
  });

  test('goes the same way again from the same seed', { timeout: patience(60_000) }, async () => {
    const options = { seed: `${SEED} again`, steps: 40 };
    const { writes } = await runHistory(options);
    expect((await runHistory(options)).writes).toEqual(writes);
  });
});
