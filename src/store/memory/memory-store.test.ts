import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { VirtualClock } from '#base';
import { bytes, keysOf, page, put, record, text, until, write } from '../contract/contract-engine.ts';
import { openMemoryStore, restoreMemoryStore } from './memory-store.ts';

test('a fork starts with all data and is independent', async () => {
  const clock = new VirtualClock();
  await using trunk = openMemoryStore({ clock });
  const { id } = await trunk.grantLease(100);
  const start = await write(
    trunk,
    put('/a', '1'),
    put('/a', '2'),
    put('/leased', 'x', { lease: id }),
    put('/ttl', 'x', { ttlSeconds: 50 }),
  );
  await using fork = trunk.fork();
  await write(fork, put('/a', 'fork'), put('/b'));
  await write(trunk, put('/c'));
  expect(text((await trunk.get('/a')).entry?.value)).toBe('2');
  expect(text((await fork.get('/a')).entry?.value)).toBe('fork');
  expect(keysOf(await page(fork, {}))).toEqual(['/a', '/b', '/leased', '/ttl']);
  expect(await page(fork, { revision: start })).toEqual(await page(trunk, { revision: start }));
  using past = record(fork, { prefix: '/a', fromRevision: 2 });
  await until(() => past.events.length === 3, 'history of both came');
  await fork.revokeLease(id);
  expect((await trunk.get('/leased')).entry).toBeDefined();
  await clock.advance(60_000);
  expect((await fork.get('/ttl')).entry).toBeUndefined();
  expect((await trunk.get('/ttl')).entry).toBeUndefined();
});

test('a fork shares what it does not change: a thousand of them take little more than one', async () => {
  await using store = openMemoryStore();
  for (let i = 0; i < 200; i++) await store.txn({ write: Array.from({ length: 100 }, (_, j) => put(`/k/${i}/${j}`)) });
  const forks = Array.from({ length: 1_000 }, () => store.fork());
  for (const [i, fork] of forks.entries()) await write(fork, put('/k/0/0', String(i)));
  expect(text((await forks[7]!.get('/k/0/0')).entry?.value)).toBe('7');
  expect((await page(forks[999]!, { select: 'count' })).count).toBe(20_000);
  for (const fork of forks) await fork.close();
});

test('history is kept for its window, and compacted after it', async () => {
  const clock = new VirtualClock();
  await using store = openMemoryStore({ clock, historyWindowMs: 60_000 });
  const first = await write(store, put('/a', '1'));
  await clock.advance(30_000);
  const second = await write(store, put('/a', '2'));
  await clock.advance(29_000);
  expect(await store.range({ revision: first })).toMatchObject({ status: 'ok' });
  await clock.advance(20_000);
  expect(await store.range({ revision: first })).toMatchObject({ status: 'ok' });
  await clock.advance(40_000);
  expect(await store.range({ revision: first })).toEqual({ status: 'compacted', compactRevision: second });
  expect(text((await store.get('/a')).entry?.value)).toBe('2');
});

test('progress marks are sent periodically on request', async () => {
  const clock = new VirtualClock();
  await using store = openMemoryStore({ clock });
  using watch = record(store, { prefix: '/quiet/', progress: true });
  const revision = await write(store, put('/loud'));
  await clock.advance(5_000);
  expect(watch.marks).toEqual([revision]);
  watch.cancel();
  await clock.advance(60_000);
  expect(watch.marks).toEqual([revision]);
});

test('a store leaves no timer behind', async () => {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  record(store, { progress: true });
  await write(store, put('/a', '1', { ttlSeconds: 5 }));
  await store.close();
  expect(clock.pendingTimers).toBe(0);
});

test('a snapshot with a flipped bit is rejected', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sampan-memory-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await using store = openMemoryStore();
  await store.txn({ write: [{ type: 'put', key: '/a', value: bytes('1') }] });
  const file = join(directory, 'snapshot');
  await store.snapshot(file);
  const content = await readFile(file);
  content[content.length - 40]! ^= 1;
  await writeFile(file, content);
  await expect(restoreMemoryStore(file)).rejects.toMatchObject({ code: 'corrupt' });
  await writeFile(file, 'something else');
  await expect(restoreMemoryStore(file)).rejects.toMatchObject({ code: 'corrupt' });
});
