import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { realClock, silentLogger } from '#base';
import { openEmbeddedStore } from '#store';
import type { KubeObject } from './kube-object.ts';
import { ObjectEncoding, StoredObject } from './object-encoding.ts';
import { ResidentMemory } from './resident-memory.ts';
import { ResourceCache } from './resource-cache.ts';
import type { WatchFrame, WatchSink } from './watcher.ts';

const PREFIX = '/registry/things/';
const ENCODING = new ObjectEncoding('Thing', 'example.com/v1');
const KIB = 'x'.repeat(1024);
const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

const example = (name: string, kibibytes: number, metadata = {}) =>
  ({
    metadata: { name, labels: { app: 'a' }, ...metadata },
    data: { text: KIB.repeat(kibibytes) },
    spec: { n: [1, 2] },
  }) as unknown as KubeObject;

async function open({ budgetBytes = 1024 * 1024, directory = '' } = {}) {
  const where = directory || (await mkdtemp(path.join(tmpdir(), 'resident-')));
  directories.push(where);
  const store = await openEmbeddedStore({ directory: where });
  const memory = new ResidentMemory({ budgetBytes });
  const cache = new ResourceCache({ store, clock: realClock, logger: silentLogger, encoding: ENCODING, prefix: PREFIX, memory });
  await cache.start();
  const put = (name: string, object: KubeObject) =>
    store.txn({ write: [{ type: 'put', key: PREFIX + name, value: StoredObject.of(object, ENCODING) }] });
  return {
    where,
    store,
    cache,
    memory,
    put,
    remove: (name: string) => store.txn({ write: [{ type: 'delete', key: PREFIX + name }] }),
    async [Symbol.asyncDispose]() {
      cache.close();
      await store.close();
    },
  };
}

function recorder() {
  const frames: WatchFrame[] = [];
  const sink: WatchSink = { frame: (frame) => void frames.push(frame), bookmark: () => {}, error: () => {}, end: () => {} };
  return { frames, sink };
}

const isInMemory = (object: object, field: string) => Object.getOwnPropertyDescriptor(object, field)?.get === undefined;
const NAMES = Array.from({ length: 40 }, (_, i) => `t-${String(i).padStart(2, '0')}`);

test('the largest objects are evicted beyond the memory budget, and are still served', async () => {
  await using at = await open();
  await at.put('small', example('small', 1));
  for (const name of NAMES) await at.put(name, example(name, 100));
  await at.memory.settled();
  expect(at.memory.bytes).toBeLessThan(1024 * 1024);
  const [large, small] = [at.cache.get(`${PREFIX}t-07`)!, at.cache.get(`${PREFIX}small`)!];
  expect([isInMemory(large.object, 'data'), isInMemory(small.object, 'data')]).toEqual([false, true]);
  expect(isInMemory(large.object.metadata, 'labels')).toBe(true);
  const { resourceVersion } = large.object.metadata;
  expect(large.object).toEqual({ ...example('t-07', 100), metadata: { name: 't-07', labels: { app: 'a' }, resourceVersion } });
  const json = large.json();
  expect(JSON.parse(String(json))).toEqual({ kind: 'Thing', apiVersion: 'example.com/v1', ...large.object });
  expect(json.length).toBe(large.jsonLength + 1);
  expect(large.equals(example('t-07', 100))).toBe(true);
});

test('large metadata is evicted from memory too', async () => {
  await using at = await open({ budgetBytes: 100_000 });
  const metadata = { annotations: { note: KIB.repeat(200) }, managedFields: [{ manager: 'a' }] };
  await at.put('a', example('a', 1, metadata));
  await at.put('b', example('b', 1, metadata));
  await at.memory.settled();
  const { object } = at.cache.get(`${PREFIX}b`)!;
  expect([isInMemory(object.metadata, 'annotations'), isInMemory(object.metadata, 'managedFields')]).toEqual([false, false]);
  expect(object.metadata).toMatchObject(metadata);
});

test('events of an evicted object have its previous state', async () => {
  await using at = await open();
  for (const name of NAMES) await at.put(name, example(name, 100));
  await at.memory.settled();
  const { frames, sink } = recorder();
  at.cache.watch({ key: 'all', prefix: PREFIX, matches: undefined }, sink, { since: at.cache.revision });
  await at.put('t-01', example('t-01', 50));
  await at.remove('t-01');
  await at.remove('t-02');
  expect(
    frames.map(({ type, object }) => `${type} ${object.object.metadata.name} ${(object.object.data as { text: string }).text.length}`),
  ).toEqual(['MODIFIED t-01 51200', 'DELETED t-01 51200', 'DELETED t-02 102400']);
  const deleted = frames[2]!.object;
  expect(isInMemory(deleted.object, 'data')).toBe(false);
  expect(JSON.parse(String(deleted.json()))).toMatchObject({ metadata: { name: 't-02', resourceVersion: String(at.cache.revision) } });
});

test('a past state is served until the store compacts it, then it is expired', async () => {
  await using at = await open();
  await at.put('a', example('a', 100));
  const old = at.cache.get(`${PREFIX}a`)!;
  const { revision } = at.cache;
  await at.put('a', example('a', 200));
  expect(isInMemory(old.object, 'data')).toBe(false);
  expect((old.object.data as { text: string }).text).toHaveLength(100 * 1024);
  const past = (await at.cache.snapshotAt(revision))!.get(`${PREFIX}a`)!;
  expect([isInMemory(past.object, 'data'), past.json().equals(old.json())]).toEqual([false, true]);
  await at.store.compact(at.cache.revision);
  await expect.poll(() => at.store.valueAt!(`${PREFIX}a`, revision)).toBeUndefined();
  // What was read last is kept for a moment.
  for (const name of NAMES) await at.put(name, example(name, 100));
  await at.memory.settled();
  for (const name of NAMES) at.cache.get(PREFIX + name)!.json();
  expect(() => old.json()).toThrow(expect.objectContaining({ code: 410 }));
});

test('a cache of many large objects is read in pages, within the budget', async () => {
  const first = await open({ budgetBytes: Number.MAX_SAFE_INTEGER });
  for (let page = 0; page < 9; page++) {
    const names = Array.from({ length: 50 }, (_, i) => `t-${page}-${i}`);
    await first.store.txn({
      write: names.map((name) => ({ type: 'put', key: PREFIX + name, value: StoredObject.of(example(name, 20), ENCODING) })),
    });
  }
  await first[Symbol.asyncDispose]();
  await using at = await open({ directory: first.where });
  await at.memory.settled();
  expect([at.cache.size, at.memory.bytes < 1024 * 1024]).toEqual([450, true]);
  const objects = [...at.cache.objects()];
  expect(objects.every(({ object }) => (object.data as { text: string }).text.length === 20 * 1024)).toBe(true);
});

test('small objects are not loaded when the memory budget is used up', async () => {
  const names = Array.from({ length: 300 }, (_, i) => `t-${String(i).padStart(3, '0')}`);
  const noted = (name: string) => example(name, 1, { annotations: { note: name } });
  const fill = async () => {
    await using first = await open();
    await Promise.all(names.map((name) => first.put(name, noted(name))));
    return first.where;
  };
  await using second = await open({ budgetBytes: 64 * 1024, directory: await fill() });
  await second.memory.settled();
  const late = names.map((name) => `u-${name}`);
  await Promise.all(late.map((name) => second.put(name, noted(name))));
  await vi.waitUntil(() => second.cache.size === 600, { timeout: 30_000 });
  const shed = late.map((name) => second.cache.get(PREFIX + name)!).filter(({ object }) => !isInMemory(object, 'data'));
  expect([shed.length, second.memory.bytes < 600 * 1024]).toEqual([300, true]);
  for (const name of ['u-t-000', 'u-t-299', 't-007']) {
    const { object } = second.cache.get(PREFIX + name)!;
    expect(object).toMatchObject({
      metadata: { name, labels: { app: 'a' }, annotations: { note: name } },
      data: { text: KIB },
      spec: { n: [1, 2] },
    });
    const served = JSON.parse(
      second.cache
        .get(PREFIX + name)!
        .json()
        .toString(),
    );
    expect(served).toMatchObject(JSON.parse(JSON.stringify({ ...object })));
  }
});

test('dropped states of past lists are read from the store again, and hold no deleted object in memory', async () => {
  await using at = await open();
  await at.put('a', example('a', 1));
  const { revision } = await at.put('b', example('b', 1));
  at.cache.keepSnapshot(revision, at.cache.snapshot());
  const deleted = at.cache.get(`${PREFIX}b`)!;
  await at.remove('b');
  at.memory.dropHistory();
  expect([...at.cache.objects()].map(({ key }) => key)).toEqual([`${PREFIX}a`]);
  const past = await at.cache.snapshotAt(revision);
  expect([past?.get(`${PREFIX}a`) === at.cache.get(`${PREFIX}a`), past?.get(`${PREFIX}b`) === deleted]).toEqual([true, false]);
  expect(past?.get(`${PREFIX}b`)?.object).toMatchObject(deleted.object);
});
