import { expect, test } from 'vitest';
import { ABSENT } from '../store.ts';
import { type ContractEngine, keysOf, page, put, remove, text, write } from './contract-engine.ts';

export function transactionRules(engine: ContractEngine): void {
  test('R1: each transaction that changes something is the next revision', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    expect((await store.txn({ write: [put('/a')] })).revision).toBe(start + 1);
    expect((await store.txn({ write: [put('/a'), put('/b'), put('/c')] })).revision).toBe(start + 2);
    expect((await store.txn({ write: [remove('/a'), remove('/b')] })).revision).toBe(start + 3);
    const revisions = (await page(store, {})).entries.map((entry) => entry.modRevision);
    expect(revisions).toEqual([start + 2]);
  });

  test('R2: a transaction that changes nothing leaves the revision alone', async () => {
    await using store = await engine.open();
    const revision = await write(store, put('/a'));
    expect(await store.txn({ write: [remove('/none')] })).toEqual({ succeeded: true, revision, reads: [] });
    expect(await store.txn({ write: [] })).toEqual({ succeeded: true, revision, reads: [] });
    expect(await store.txn({ compare: [{ key: '/a', modRevision: ABSENT }], write: [put('/b')] })).toEqual({
      succeeded: false,
      revision,
      reads: [],
    });
    expect(await store.revision()).toBe(revision);
  });

  test('R3: an entry has its create revision, mod revision and version', async () => {
    await using store = await engine.open();
    const entry = async () => (await store.get('/a')).entry;
    const first = await write(store, put('/a', '1'));
    expect(await entry()).toMatchObject({ createRevision: first, modRevision: first, version: 1 });
    const second = await write(store, put('/a', '2'));
    expect(await entry()).toMatchObject({ createRevision: first, modRevision: second, version: 2 });
    const third = await write(store, remove('/a'), put('/a', '3'));
    expect(await entry()).toMatchObject({ createRevision: third, modRevision: third, version: 1 });
  });

  test('T1: all or nothing', async () => {
    await using store = await engine.open();
    const revision = await write(store, put('/a'), put('/b'));
    const failing = [
      { key: '/a', modRevision: revision - 1 },
      { key: '/b', modRevision: revision - 1 },
    ];
    expect(await store.txn({ compare: failing, write: [put('/a', 'new'), put('/c'), remove('/b')] })).toMatchObject({ succeeded: false });
    expect(keysOf(await page(store, {}))).toEqual(['/a', '/b']);
    const holding = [
      { key: '/a', modRevision: revision - 1 },
      { key: '/b', modRevision: revision },
    ];
    expect(await store.txn({ compare: holding, write: [put('/a', 'new'), put('/c'), remove('/b')] })).toMatchObject({
      succeeded: true,
      revision: revision + 1,
    });
    expect(keysOf(await page(store, {}))).toEqual(['/a', '/c']);
  });

  test('T2: absence can be compared', async () => {
    await using store = await engine.open();
    const create = () => store.txn({ compare: [{ key: '/a', modRevision: ABSENT }], write: [put('/a')] });
    expect(await create()).toMatchObject({ succeeded: true });
    expect(await create()).toMatchObject({ succeeded: false });
    await write(store, remove('/a'));
    expect(await create()).toMatchObject({ succeeded: true });
  });

  test('T3: a failed comparison reads what it was compared with', async () => {
    await using store = await engine.open();
    const revision = await write(store, put('/a', '1'));
    const request = { compare: [{ key: '/a', modRevision: 1 }], write: [put('/a')], elseRead: ['/a', '/none'] };
    const { succeeded, reads, revision: at } = await store.txn(request);
    expect({ succeeded, at }).toEqual({ succeeded: false, at: revision });
    expect(reads.map((read) => read && [read.key, text(read.value), read.modRevision])).toEqual([['/a', '1', revision], undefined]);
    expect((await store.txn({ ...request, compare: [{ key: '/a', modRevision: revision }] })).reads).toEqual([]);
  });

  test('T3: what a comparison reads includes the writes of the same moment', async () => {
    await using store = await engine.open();
    const first = store.txn({ write: [put('/a', 'first')] });
    const second = store.txn({ compare: [{ key: '/a', modRevision: ABSENT }], write: [put('/a', 'second')], elseRead: ['/a'] });
    const [{ revision }, loser] = await Promise.all([first, second]);
    if (loser.succeeded) return;
    expect(loser.reads[0]).toMatchObject({ modRevision: revision, version: 1 });
    expect(text(loser.reads[0]?.value)).toBe('first');
  });

  test('T5: of many that compare with the same version one wins', async () => {
    await using store = await engine.open();
    for (let round = 0; round < 5; round++) {
      const { entry } = await store.get('/counter');
      const compare = [{ key: '/counter', modRevision: entry?.modRevision ?? ABSENT }];
      const attempts = Array.from({ length: 20 }, (_, i) => store.txn({ compare, write: [put('/counter', `${round}.${i}`)] }));
      expect((await Promise.all(attempts)).filter(({ succeeded }) => succeeded)).toHaveLength(1);
    }
    expect((await store.get('/counter')).entry?.version).toBe(5);
  });

  test('T5: counting up with comparison and retry loses nothing', async () => {
    await using store = await engine.open();
    const increment = async () => {
      for (;;) {
        const { entry } = await store.get('/n');
        const next = String(Number(text(entry?.value) ?? 0) + 1);
        const { succeeded } = await store.txn({
          compare: [{ key: '/n', modRevision: entry?.modRevision ?? ABSENT }],
          write: [put('/n', next)],
        });
        if (succeeded) return;
      }
    };
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 5; i++) await increment();
      }),
    );
    expect(text((await store.get('/n')).entry?.value)).toBe('40');
  });

  test('T5: revisions of concurrent writes are all different, and none is left out', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    const results = await Promise.all(Array.from({ length: 200 }, (_, i) => store.txn({ write: [put(`/${i % 50}`, String(i))] })));
    const revisions = results.map(({ revision }) => revision).sort((a, b) => a - b);
    expect(revisions).toEqual(Array.from({ length: 200 }, (_, i) => start + 1 + i));
  });
}
