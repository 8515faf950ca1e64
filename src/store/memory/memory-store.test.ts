import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMemoryStore, restoreMemoryStore } from './memory-store.ts';

const bytes = (text: string) => Buffer.from(text);

test('a fork of a large store is made in no time and goes its own way', async () => {
  await using store = openMemoryStore();
  for (let i = 0; i < 1_000; i++) {
    await store.txn({ write: Array.from({ length: 100 }, (_, j) => ({ type: 'put', key: `/k/${i}/${j}`, value: bytes('v') })) });
  }
  await using fork = store.fork();
  await fork.txn({ write: [{ type: 'put', key: '/k/0/0', value: bytes('fork') }] });
  await store.txn({ write: [{ type: 'delete', key: '/k/0/1' }] });
  expect((await store.get('/k/0/0')).entry?.value).toEqual(bytes('v'));
  expect((await fork.get('/k/0/1')).entry?.value).toEqual(bytes('v'));
  expect(await fork.range({ prefix: '/k/', select: 'count' })).toMatchObject({ count: 100_000 });
});

test('a snapshot can be restored', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sampan-memory-'));
  await using store = openMemoryStore();
  await store.txn({ write: [{ type: 'put', key: '/a', value: bytes('1'), ttlSeconds: 100 }] });
  await store.snapshot(join(directory, 'snapshot'));
  await using restored = await restoreMemoryStore(join(directory, 'snapshot'));
  expect((await restored.get('/a')).entry).toEqual((await store.get('/a')).entry);
  await rm(directory, { recursive: true });
});
