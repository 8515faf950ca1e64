import { expect, test } from 'vitest';
import { type ContractEngine, keysOf, lines, page, put, record, remove, until, write } from './contract-engine.ts';

export function compactionRules(engine: ContractEngine): void {
  test('C1, G8: history before the compacted revision is gone, and what is after it is unchanged', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    const changes = [
      put('/a', '1'),
      put('/b', '2'),
      put('/a', '3'),
      remove('/b'),
      put('/c', '4'),
      put('/a', '5'),
      remove('/c'),
      put('/b', '6'),
    ];
    await write(store, ...changes);
    const last = start + changes.length;
    const compacted = start + 5;
    const before = new Map<number, unknown>();
    for (let revision = compacted; revision <= last; revision++) before.set(revision, await page(store, { revision }));
    expect(await store.compact(compacted)).toEqual({ status: 'ok' });
    for (let round = 0; round < 3; round++) {
      for (const [revision, answer] of before) expect(await page(store, { revision }), `at ${revision}`).toEqual(answer);
      for (const revision of [start + 1, compacted - 1])
        expect(await store.range({ revision })).toEqual({ status: 'compacted', compactRevision: compacted });
      using watch = record(store, { prefix: '/', fromRevision: compacted + 1, prevValue: true });
      await until(() => watch.events.length === 3, 'the rest of history came');
      expect(lines(watch.events)).toEqual([`put /a 5 @${start + 6}`, `delete /c @${start + 7}`, `put /b 6 @${start + 8}`]);
      expect(watch.events.map(({ prevValue }) => prevValue && Buffer.from(prevValue).toString())).toEqual(['3', '4', undefined]);
      // Compacted data is removed in the background: check again after that.
      await engine.passTime(50);
    }
    expect(keysOf(await page(store, {}))).toEqual(['/a', '/b']);
  });

  test('C2: compacting a compacted revision says so, and a future one is rejected', async () => {
    await using store = await engine.open();
    const revision = await write(store, put('/a'), put('/a'), put('/a'));
    expect(await store.compact(revision - 1)).toEqual({ status: 'ok' });
    for (const old of [revision - 2, revision - 1])
      expect(await store.compact(old)).toEqual({ status: 'compacted', compactRevision: revision - 1 });
    await expect(store.compact(revision + 1)).rejects.toMatchObject({ code: 'future-revision' });
    expect(await store.compact(revision)).toEqual({ status: 'ok' });
    expect(await store.status()).toMatchObject({ revision });
  });

  test('C1: a deleted key that comes back after a compaction is new', async () => {
    await using store = await engine.open();
    const deleted = await write(store, put('/a', '1'), put('/a', '2'), remove('/a'));
    await store.compact(deleted);
    await engine.passTime(50);
    const revision = await write(store, put('/a', '3'));
    expect((await store.get('/a')).entry).toMatchObject({ createRevision: revision, version: 1 });
    expect(keysOf(await page(store, { revision: deleted }))).toEqual([]);
    expect(keysOf(await page(store, { revision }))).toEqual(['/a']);
  });

  test('C3: writes and reads go on while much history is given up', async () => {
    await using store = await engine.open();
    for (let i = 0; i < 30; i++) await store.txn({ write: Array.from({ length: 100 }, (_, j) => put(`/${j}`, `${i}`)) });
    const revision = await store.revision();
    const compaction = store.compact(revision);
    await Promise.all(Array.from({ length: 100 }, (_, i) => store.txn({ write: [put(`/${i}`, 'after')] })));
    expect(await compaction).toEqual({ status: 'ok' });
    expect((await page(store, { revision })).entries.every(({ value }) => Buffer.from(value).toString() === '29')).toBe(true);
    expect((await page(store, {})).entries.every(({ value }) => Buffer.from(value).toString() === 'after')).toBe(true);
    await store.defragment();
    expect((await page(store, { revision })).entries.every(({ value }) => Buffer.from(value).toString() === '29')).toBe(true);
    expect(await write(store, put('/more'))).toBe(revision + 101);
  });
}
