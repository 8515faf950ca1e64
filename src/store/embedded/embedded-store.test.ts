import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { VirtualClock } from '#base';
import { keysOf, page, put, record, remove, text, until, write } from '../contract/contract-engine.ts';
import { lockDirectory } from './directory-lock.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import { migrate, readFormat, writeFormat } from './migrations.ts';
import { restoreEmbeddedStore } from './snapshot-file.ts';
import { openTables } from './tables.ts';

const historyWindowMs = Number.POSITIVE_INFINITY;

async function newDirectory(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'sampan-embedded-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'store');
}

describe('an embedded store', () => {
  test('is there again after it was closed: entries, history, leases and revision', async () => {
    const directory = await newDirectory();
    const clock = new VirtualClock();
    const before = await openEmbeddedStore({ directory, clock, historyWindowMs });
    const { id } = await before.grantLease(100);
    const start = await write(before, put('/a', '1'), put('/a', '2'), put('/b', '3'), remove('/b'), put('/leased', '4', { lease: id }));
    const [now, past] = [await page(before, {}), await page(before, { revision: start - 2 })];
    await before.close();
    {
      await using again = await openEmbeddedStore({ directory, clock, historyWindowMs, verify: true });
      expect(await page(again, {})).toEqual(now);
      expect(await page(again, { revision: start - 2 })).toEqual(past);
      using watch = record(again, { prefix: '/', fromRevision: 2, prevValue: true });
      await until(() => watch.events.length === 5, 'history came');
      expect(await write(again, put('/c'))).toBe(start + 1);
    }
    await clock.advance(200_000);
    await using late = await openEmbeddedStore({ directory, clock, historyWindowMs });
    await clock.advance(0);
    await until(async () => (await late.get('/leased')).entry === undefined, 'the lease has expired');
    expect(keysOf(await page(late, {}))).toEqual(['/a', '/c']);
  });

  test('names no revision that is not durable yet when nothing is changed', async () => {
    await using store = await openEmbeddedStore({ directory: await newDirectory() });
    const pendingWrite = store.txn({ write: [put('/a')] });
    const failed = await store.txn({ compare: [{ key: '/none', modRevision: 7 }], write: [] });
    const unchanged = await store.txn({ write: [remove('/none')] });
    expect([failed.revision, unchanged.revision, await store.revision()]).toEqual([1, 1, 1]);
    expect((await pendingWrite).revision).toBe(2);
  });

  test('shows no one a write before it is durable', async () => {
    await using store = await openEmbeddedStore({ directory: await newDirectory() });
    using watch = record(store, { prefix: '/' });
    let acknowledged = false;
    const pendingWrite = store.txn({ write: [put('/a')] }).then(() => {
      acknowledged = true;
    });
    while (!acknowledged) {
      const [{ entry }, { count }] = [await store.get('/a'), await page(store, {})];
      if (acknowledged) break;
      expect([entry, count, watch.events.length === 0 || watch.events.length === 1]).toEqual([undefined, 0, true]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await pendingWrite;
  });

  test('begins at revision 1 in a directory that it makes, readable by its owner alone', async () => {
    const directory = await newDirectory();
    await using store = await openEmbeddedStore({ directory });
    expect(await store.revision()).toBe(1);
    expect((await stat(directory)).mode & 0o077).toBe(0);
  });

  test('takes a long path', async () => {
    const directory = join(await newDirectory(), 'a'.repeat(100), 'b'.repeat(100));
    await using store = await openEmbeddedStore({ directory });
    await expect(openEmbeddedStore({ directory })).rejects.toMatchObject({ code: 'locked' });
    expect(await write(store, put('/a'))).toBe(2);
  });

  test('gives history up in the background, and its space with a defragmentation', async () => {
    const clock = new VirtualClock();
    await using store = await openEmbeddedStore({ directory: await newDirectory(), clock, historyWindowMs: 60_000 });
    for (let i = 0; i < 20; i++) await store.txn({ write: Array.from({ length: 50 }, (_, j) => put(`/${j}`, 'x'.repeat(2_000))) });
    await write(store, remove('/0'));
    const before = await store.status();
    for (let i = 0; i < 15; i++) await clock.advance(6_000);
    await until(async () => (await store.status()).usedBytes < before.usedBytes / 4, 'history is gone');
    const scrubbed = await store.status();
    expect(scrubbed.compactRevision).toBe(await store.revision());
    expect(scrubbed.fragmentation).toBeGreaterThan(0.5);
    await store.defragment();
    const after = await store.status();
    expect(after.sizeBytes).toBeLessThan(before.sizeBytes / 4);
    expect(after.fragmentation).toBeLessThan(0.1);
    expect((await page(store, { select: 'count' })).count).toBe(49);
  });

  test('spares the history that a long read still needs', async () => {
    await using store = await openEmbeddedStore({ directory: await newDirectory(), historyWindowMs });
    for (let i = 0; i < 60; i++) await store.txn({ write: Array.from({ length: 100 }, (_, j) => put(`/${i}/${j}`, 'old')) });
    const revision = await store.revision();
    const pages = page(store, { revision });
    for (let i = 0; i < 60; i++) void store.txn({ write: Array.from({ length: 100 }, (_, j) => put(`/${i}/${j}`, 'new')) });
    await store.compact(await store.txn({ write: [put('/last')] }).then((result) => result.revision));
    const { entries } = await pages;
    expect([entries.length, entries.every(({ value }) => text(value) === 'old')]).toEqual([6_000, true]);
  });

  test('deletes a lease of very many keys in several transactions', async () => {
    await using store = await openEmbeddedStore({ directory: await newDirectory() });
    const { id } = await store.grantLease(1_000);
    for (let i = 0; i < 5; i++) await store.txn({ write: Array.from({ length: 100 }, (_, j) => put(`/${i}/${j}`, 'v', { lease: id })) });
    const start = await store.revision();
    await store.revokeLease(id);
    expect([(await page(store, {})).count, await store.revision()]).toEqual([0, start + 4]);
  });

  test('gives a snapshot up when it is closed', async () => {
    const directory = await newDirectory();
    const store = await openEmbeddedStore({ directory });
    for (let i = 0; i < 10; i++) await store.txn({ write: [put(`/${i}`, 'x'.repeat(1_000_000))] });
    const snapshot = store.snapshot(join(directory, '..', 'snapshot'));
    const refused = expect(snapshot).rejects.toMatchObject({ code: 'closed' });
    await store.close();
    await refused;
    expect(await readdir(join(directory, '..'))).toEqual(['store']);
  });
});

describe('the directory of a store', () => {
  test('is kept to one process, which is named', async () => {
    const directory = await newDirectory();
    await using _store = await openEmbeddedStore({ directory });
    await expect(openEmbeddedStore({ directory })).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining(`in use by process ${process.pid} on `),
    });
    await expect(restoreEmbeddedStore({ snapshot: join(directory, 'data.mdb'), directory })).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('is free again after a close, and nothing of the lock is left', async () => {
    const directory = await newDirectory();
    for (let i = 0; i < 3; i++) await (await openEmbeddedStore({ directory })).close();
    expect((await readdir(directory)).filter((name) => name.startsWith('holder'))).toEqual([]);
  });

  test('is kept by a process that is stopped, and free when it is dead', async () => {
    const directory = await newDirectory();
    await mkdir(directory);
    const program = `require('net').createServer(s => s.end('process ' + process.pid)).listen(${JSON.stringify(join(directory, 'holder.3'))}, () => console.log('up'))`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await expect(lockDirectory(directory)).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining(`process ${child.pid}`),
    });
    child.kill('SIGSTOP');
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining('does not answer') });
    const dead = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await dead;
    const lock = await lockDirectory(directory);
    expect(await readdir(directory)).toEqual(['holder.4']);
    await lock.release();
    expect(await readdir(directory)).toEqual([]);
  });

  test('is locked by one of many concurrent openers', async () => {
    const directory = await newDirectory();
    await mkdir(directory);
    await writeFile(join(directory, 'unrelated'), '');
    let locked = 0;
    for (let round = 0; round < 20; round++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)));
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(winners.length).toBeLessThanOrEqual(1);
      locked += winners.length;
      for (const lock of winners) await lock.release();
    }
    expect(locked).toBeGreaterThan(0);
  });

  test('is refused when it can not be locked', async () => {
    const file = join(await newDirectory(), '..', 'file');
    await writeFile(file, '');
    await expect(openEmbeddedStore({ directory: file })).rejects.toMatchObject({ name: 'StoreError', code: 'io' });
  });
});

describe('the format of the data file', () => {
  test('is brought up to date step by step, all or nothing', async () => {
    const directory = await newDirectory();
    await (await openEmbeddedStore({ directory })).close();
    const tables = openTables(directory);
    onTestFinished(() => tables.root.close());
    const mark = (key: string) => () => void tables.meta.putSync(key, Buffer.from('done'));
    const steps = new Map([
      [1, mark('one')],
      [2, mark('two')],
    ]);
    const failing = () => {
      throw new Error('broken step');
    };
    expect(() => migrate(tables, new Map([...steps, [3, failing]]), 4)).toThrow('broken step');
    expect([readFormat(tables), tables.meta.getBinary('one')]).toEqual([1, undefined]);
    expect(() => migrate(tables, steps, 4)).toThrow('no way from format 3');
    migrate(tables, steps, 3);
    expect([readFormat(tables), tables.meta.getBinary('one')?.toString(), tables.meta.getBinary('two')?.toString()]).toEqual([
      3,
      'done',
      'done',
    ]);
  });

  test('is refused when it is newer than the program', async () => {
    const directory = await newDirectory();
    await (await openEmbeddedStore({ directory })).close();
    const tables = openTables(directory);
    writeFormat(tables, 99);
    await tables.root.close();
    await expect(openEmbeddedStore({ directory })).rejects.toMatchObject({
      code: 'unsupported-format',
      message: expect.stringContaining('99'),
    });
    await expect(openEmbeddedStore({ directory })).rejects.toMatchObject({ code: 'unsupported-format' });
  });
});
