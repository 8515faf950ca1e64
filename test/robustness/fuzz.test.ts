import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { seededRandom } from '#base';
import { openEmbeddedStore, openEtcdStore, openMemoryStore } from '#store';
import { startEtcd } from '../../src/store/contract/etcd-members.ts';
import { fuzz } from './fuzzer.ts';
import { patience, SEED, times } from './length.ts';

const historyWindowMs = Number.POSITIVE_INFINITY;

describe(`random operations do what the model does (seed ${SEED})`, () => {
  test('on the memory engine', { timeout: patience(60_000) }, async () => {
    const operations = times(2_500, 250_000);
    for (let round = 0; round < 4; round++) {
      await using store = openMemoryStore({ historyWindowMs });
      await fuzz(store, { random: seededRandom(`${SEED} memory ${round}`), operations, compact: true });
    }
  });

  test('on the memory engine, in forks that go their own ways', { timeout: patience(60_000) }, async () => {
    await using store = openMemoryStore({ historyWindowMs });
    await fuzz(store, { random: seededRandom(`${SEED} trunk`), operations: 300 });
    const forks = Array.from({ length: 4 }, () => store.fork());
    // Each fork starts with the keys of the original: cleared, it is an empty store at a later revision.
    for (const fork of forks) {
      const page = await fork.range({});
      if (page.status === 'ok') await fork.txn({ write: page.entries.map(({ key }) => ({ type: 'delete', key })) });
    }
    await Promise.all(
      forks.map((fork, i) => fuzz(fork, { random: seededRandom(`${SEED} fork ${i}`), operations: times(500, 50_000), compact: true })),
    );
    for (const fork of forks) await fork.close();
  });

  test('on the embedded engine', { timeout: patience(60_000) }, async () => {
    const operations = times(2_500, 250_000);
    const directory = await mkdtemp(join(tmpdir(), 'sampan-fuzz-'));
    for (let round = 0; round < 4; round++) {
      await using store = await openEmbeddedStore({ directory: join(directory, String(round)), historyWindowMs });
      await fuzz(store, { random: seededRandom(`${SEED} embedded ${round}`), operations, compact: true });
    }
    await rm(directory, { recursive: true });
  });

  test('on the etcd engine', { timeout: patience(120_000) }, async () => {
    await using etcd = await startEtcd();
    const fuzzers = 20;
    await Promise.all(
      Array.from({ length: fuzzers }, async (_, i) => {
        await using store = await openEtcdStore({ endpoints: etcd.endpoints, prefix: `/fuzz-${i}-`, historyWindowMs });
        await fuzz(store, { random: seededRandom(`${SEED} etcd ${i}`), operations: times(500, 20_000), shared: true });
      }),
    );
    await using store = await openEtcdStore({ endpoints: etcd.endpoints, prefix: '/fuzz-alone', historyWindowMs });
    await fuzz(store, { random: seededRandom(`${SEED} etcd alone`), operations: times(300, 20_000), compact: true });
  });
});
