import { describe, test } from 'vitest';
import { patience, SEED, times } from '../length.ts';
import { runStorageHistory } from './storage-history.ts';

const timeout = patience(300_000);
const seeds = Array.from({ length: times(2, 500) }, (_, i) => `${SEED} ${i}`);

describe('volumes of a cluster to which anything happens, on virtual time', () => {
  test.each(seeds)('are on one node at a time, never lost, and leave nothing behind (seed %s)', { timeout }, async (seed) => {
    await runStorageHistory(seed);
  });
});
