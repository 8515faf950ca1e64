import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEmbeddedStore } from './embedded-store.ts';

test('what was written is there after reopening', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sampan-embedded-'));
  {
    await using store = await openEmbeddedStore({ directory });
    const results = await Promise.all(
      Array.from({ length: 500 }, (_, i) => store.txn({ write: [{ type: 'put', key: `/k/${i}`, value: Buffer.from(`v${i}`) }] })),
    );
    expect(results.at(-1)?.revision).toBe(501);
    const page = await store.range({ prefix: '/k/' });
    expect(page).toMatchObject({ count: 500, more: false });
    await store.defragment();
    expect((await store.get('/k/499')).entry?.value.toString()).toBe('v499');
    console.log(await store.status(), await store.snapshot(join(directory, '../snap.sampan')));
  }
  await using store = await openEmbeddedStore({ directory, verify: true });
  expect((await store.get('/k/499')).entry?.value.toString()).toBe('v499');
  await rm(directory, { recursive: true });
});

test('an answer that changes nothing names no revision that is not durable yet', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sampan-embedded-'));
  await using store = await openEmbeddedStore({ directory });
  const writing = store.txn({ write: [{ type: 'put', key: '/a', value: Buffer.from('1') }] });
  const failed = await store.txn({ compare: [{ key: '/none', modRevision: 7 }], write: [] });
  const unchanged = await store.txn({ write: [{ type: 'delete', key: '/none' }] });
  expect([failed.revision, unchanged.revision, await store.revision()]).toEqual([1, 1, 1]);
  expect((await writing).revision).toBe(2);
  await rm(directory, { recursive: true });
});
