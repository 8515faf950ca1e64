import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '#base';
import { openEmbeddedStore, openMemoryStore, type Store } from '#store';
import { historyFaults, readFaults, runWorkload, watchFaults } from './history.ts';
import { patience, SEED, times } from './length.ts';
import { caughtUp, recordWatch } from './recorder.ts';

const KEYS = ['/a', '/b', '/c', '/d', '/e'];

/** Concurrent clients, maintenance, and watches that start at any time: everything that they observed must be consistent. */
async function checkHistories(store: Store, seed: string): Promise<void> {
  const random = seededRandom(seed);
  const start = await store.revision();
  const recorders = [recordWatch(store, start + 1)];
  const operations = times(3_000, 100_000);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const history = await runWorkload([store], {
    random,
    keys: KEYS,
    clients: 12,
    goOn: (done) => done < operations,
    async pause() {
      await turn();
      if (random.int(200) === 0) recorders.push(recordWatch(store, (await store.status()).compactRevision + 1));
      if (random.int(400) === 0) await store.compact(Math.max(1, (await store.revision()) - 100));
      if (random.int(1_000) === 0) await store.defragment();
    },
  });
  const { revision } = await store.txn({ write: [{ type: 'put', key: '/end', value: Buffer.from('0') }] });
  await caughtUp(
    recorders.filter(({ ends }) => ends.length === 0),
    revision,
    20_000,
  );
  const whole = recorders.filter(({ ends }) => ends.length === 0);
  for (const recorder of recorders) recorder.stop();
  expect(whole.length).toBeGreaterThan(1);
  expect(historyFaults(history)).toEqual([]);
  expect(watchFaults(history, whole)).toEqual([]);
  expect(readFaults(history, whole[0]!)).toEqual([]);
  expect(history.txns.filter(({ outcome }) => outcome === 'written').length).toBeGreaterThan(operations / 5);
}

describe(`concurrent histories are linearizable, and watches tell them (seed ${SEED})`, () => {
  test('of the memory engine', { timeout: patience(60_000) }, async () => {
    await using store = openMemoryStore({ historyWindowMs: Number.POSITIVE_INFINITY });
    await checkHistories(store, `${SEED} memory`);
  });

  test('of the embedded engine', { timeout: patience(60_000) }, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sampan-histories-'));
    {
      await using store = await openEmbeddedStore({ directory, historyWindowMs: Number.POSITIVE_INFINITY });
      await checkHistories(store, `${SEED} embedded`);
    }
    await rm(directory, { recursive: true });
  });
});
