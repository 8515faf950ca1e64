import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { type EmbeddedStore, openEmbeddedStore, openMemoryStore, type WatchSink } from '#store';
import type { Benchmark } from './harness.ts';

const directory = mkdtempSync(join(tmpdir(), 'sampan-store-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const VALUE = Buffer.alloc(1_024, 'v');
const CONCURRENCY = 100;
const KEYS = 100_000;
const historyWindowMs = Number.POSITIVE_INFINITY;

/** Spread over the whole key range, as in a cluster. */
const keyOf = (i: number) => `/registry/pods/default/pod-${String((i * 7_919) % KEYS).padStart(7, '0')}`;

let opened = 0;

function openRaw(): RootDatabase<Buffer, string> {
  const path = join(directory, `raw-${opened++}`);
  mkdirSync(path);
  return open<Buffer, string>(join(path, 'data.mdb'), { encoding: 'binary', noSubdir: true, overlappingSync: false, noMemInit: true });
}

function openStore(): Promise<EmbeddedStore> {
  return openEmbeddedStore({ directory: join(directory, `store-${opened++}`), historyWindowMs });
}

/** Operations per second with `CONCURRENCY` in flight. */
async function rate(count: number, run: (i: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const start = performance.now();
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return (count / (performance.now() - start)) * 1_000;
}

const put = (store: EmbeddedStore, i: number) => store.txn({ write: [{ type: 'put', key: keyOf(i), value: VALUE }] });

/** The setup of each benchmark is created once, when it is first measured. */
function once<T>(make: () => Promise<T> | T): () => Promise<T> {
  let resource: Promise<T> | undefined;
  return () => {
    resource ??= Promise.resolve(make());
    return resource;
  };
}

const WRITES = 40_000;

const raw = once(async () => {
  const database = openRaw();
  await rate(KEYS, (i) => database.put(keyOf(i), VALUE));
  return database;
});

const store = once(async () => {
  const filled = await openStore();
  await rate(KEYS, (i) => put(filled, i));
  return filled;
});

async function readRate(read: (key: string) => unknown): Promise<number> {
  const count = 200_000;
  const start = performance.now();
  for (let i = 0; i < count; i++) await read(keyOf(i * 31));
  return (count / (performance.now() - start)) * 1_000;
}

const WATCHERS = 1_000;

/** Microseconds per event for each of many watchers of its prefix. */
async function watchCost(watchers: number): Promise<number> {
  await using target = openMemoryStore();
  let delivered = 0;
  const sink: WatchSink = {
    events(batch) {
      delivered += batch.length;
    },
    progress() {},
    end() {},
  };
  for (let i = 0; i < watchers; i++) target.watch({ prefix: '/registry/pods/' }, sink);
  const events = 2_000;
  const start = performance.now();
  for (let i = 0; i < events; i++) await target.txn({ write: [{ type: 'put', key: keyOf(i), value: VALUE }] });
  const elapsed = performance.now() - start;
  if (delivered !== watchers * events) throw new Error(`${delivered} events were delivered, not ${watchers * events}`);
  return (elapsed / events / Math.max(1, watchers)) * 1_000;
}

/** The same with a loop over callbacks: the cost of the calls alone. */
async function callCost(watchers: number): Promise<number> {
  let delivered = 0;
  const count = (batch: readonly unknown[]) => {
    delivered += batch.length;
  };
  const callbacks = Array.from({ length: watchers }, () => count);
  const events = 2_000;
  const start = performance.now();
  for (let i = 0; i < events; i++) {
    const batch = [{ key: keyOf(i), value: VALUE }];
    for (const callback of callbacks) callback(batch);
    await undefined;
  }
  if (delivered !== watchers * events) throw new Error('an event was lost');
  return ((performance.now() - start) / events / watchers) * 1_000;
}

const MILLION = 1_000_000;
const millionKey = (i: number) => `/registry/events/namespace-${i % 100}/event-${String(i).padStart(9, '0')}`;

const millionDirectory = once(async () => {
  const path = join(directory, 'million');
  await using target = await openEmbeddedStore({ directory: path, historyWindowMs });
  for (let i = 0; i < MILLION; i += 10_000) {
    const batches = Array.from({ length: 100 }, (_, batch) =>
      target.txn({ write: Array.from({ length: 100 }, (_, j) => ({ type: 'put', key: millionKey(i + batch * 100 + j), value: VALUE })) }),
    );
    await Promise.all(batches);
  }
  return path;
});

const millionRaw = once(async () => {
  const path = join(directory, 'million-raw.mdb');
  const database = open<Buffer, string>(path, { encoding: 'binary', noSubdir: true, overlappingSync: false });
  for (let i = 0; i < MILLION; i += 10_000) {
    await database.batch(() => {
      for (let j = 0; j < 10_000; j++) void database.put(millionKey(i + j), VALUE);
    });
  }
  await database.close();
  return path;
});

const plainMap = once(() => new Map(Array.from({ length: KEYS }, (_, i) => [keyOf(i), VALUE])));

const memory = once(async () => {
  const target = openMemoryStore({ historyWindowMs });
  for (let i = 0; i < KEYS; i++) await target.txn({ write: [{ type: 'put', key: keyOf(i), value: VALUE }] });
  return target;
});

const heapMegabytes = () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};

/** Writes per second to a store with history, during other work. */
async function writesDuring(work: (target: EmbeddedStore) => Promise<unknown>): Promise<number> {
  const target = await store();
  let working = true;
  const running = (async () => {
    while (working) {
      await work(target);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const result = await rate(WRITES, (i) => put(target, i));
  working = false;
  await running;
  return result;
}

const quiet = () => new Promise((resolve) => setTimeout(resolve, 20));

export const benchmarks: Benchmark[] = [
  {
    kind: 'macro',
    name: 'store/embedded: durable 1 KiB puts, 100 at once (at least 0.60)',
    unit: 'puts/s',
    better: 'higher',
    baseline: {
      name: 'raw lmdb',
      measure: async () => {
        const database = await raw();
        return rate(WRITES, (i) => database.put(keyOf(i), VALUE));
      },
    },
    subject: {
      name: 'txn',
      measure: async () => {
        const target = await store();
        return rate(WRITES, (i) => put(target, i));
      },
    },
  },
  {
    kind: 'macro',
    name: 'store/embedded: point reads of 1 KiB (at least 0.50)',
    unit: 'reads/s',
    better: 'higher',
    baseline: {
      name: 'raw lmdb',
      measure: async () => {
        const database = await raw();
        return readRate((key) => database.get(key));
      },
    },
    subject: {
      name: 'get',
      measure: async () => {
        const target = await store();
        return readRate((key) => target.get(key));
      },
    },
  },
  {
    kind: 'macro',
    name: `store/watch: ${WATCHERS} watchers of one prefix (below 3 µs)`,
    unit: 'µs per watcher and event',
    better: 'lower',
    baseline: { name: 'a loop over callbacks', measure: () => callCost(WATCHERS) },
    subject: { name: 'watch', measure: () => watchCost(WATCHERS) },
  },
  {
    kind: 'macro',
    name: 'store/memory: fork of 100,000 keys (below 1 ms)',
    unit: 'ms',
    better: 'lower',
    baseline: {
      name: 'a copy of a Map',
      measure: async () => {
        const map = await plainMap();
        const start = performance.now();
        const copy = new Map(map);
        return copy.size === KEYS ? performance.now() - start : Number.NaN;
      },
    },
    subject: {
      name: 'fork',
      measure: async () => {
        const target = await memory();
        const start = performance.now();
        const fork = target.fork();
        const elapsed = performance.now() - start;
        await fork.close();
        return elapsed;
      },
    },
  },
  {
    kind: 'macro',
    name: 'store/embedded: open a store of a million keys (below 2,000 ms)',
    unit: 'ms',
    better: 'lower',
    rounds: 3,
    baseline: {
      name: 'raw lmdb',
      measure: async () => {
        const path = await millionRaw();
        const start = performance.now();
        const database = open<Buffer, string>(path, { encoding: 'binary', noSubdir: true, overlappingSync: false });
        database.get(millionKey(1));
        const elapsed = performance.now() - start;
        await database.close();
        return elapsed;
      },
    },
    subject: {
      name: 'openEmbeddedStore',
      measure: async () => {
        const path = await millionDirectory();
        const start = performance.now();
        await using target = await openEmbeddedStore({ directory: path, historyWindowMs });
        await target.get(millionKey(1));
        return performance.now() - start;
      },
    },
  },
  {
    kind: 'macro',
    name: 'store/embedded: heap for a million 1 KiB keys',
    unit: 'MB',
    better: 'lower',
    rounds: 1,
    baseline: {
      name: 'a Set of the keys',
      measure: async () => {
        const before = heapMegabytes();
        const keys = new Set(Array.from({ length: MILLION }, (_, i) => millionKey(i)));
        const after = heapMegabytes();
        return keys.size === MILLION ? after - before : Number.NaN;
      },
    },
    subject: {
      name: 'open store, 100,000 keys read',
      measure: async () => {
        const path = await millionDirectory();
        const before = heapMegabytes();
        await using target = await openEmbeddedStore({ directory: path, historyWindowMs });
        for (let i = 0; i < 100_000; i++) await target.get(millionKey(i * 10));
        return Math.max(0.1, heapMegabytes() - before);
      },
    },
  },
  {
    kind: 'macro',
    name: 'store/embedded: puts while history is compacted (at least 0.80)',
    unit: 'puts/s',
    better: 'higher',
    baseline: { name: 'alone', measure: () => writesDuring(quiet) },
    subject: {
      name: 'while compacting',
      measure: () =>
        writesDuring(async (target) => {
          await target.compact((await target.revision()) - 1);
          await quiet();
        }),
    },
  },
  {
    kind: 'macro',
    name: 'store/embedded: puts while a snapshot is taken (at least 0.80)',
    unit: 'puts/s',
    better: 'higher',
    baseline: { name: 'alone', measure: () => writesDuring(quiet) },
    subject: {
      name: 'during snapshots',
      measure: () =>
        writesDuring(async (target) => {
          const file = join(directory, `snapshot-${opened++}`);
          await target.snapshot(file);
          rmSync(file);
        }),
    },
  },
];
