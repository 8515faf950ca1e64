import { expect, test } from 'vitest';
import { keyAfter, type RangeRequest } from '../store.ts';
import { type ContractEngine, keysOf, page, put, remove, text, write } from './contract-engine.ts';

const KEYS = ['/a', '/a/1', '/a/2', '/a/3', '/b', '/b/1', '/c'];

const RANGES: readonly { readonly request: RangeRequest; readonly keys: readonly string[] }[] = [
  { request: {}, keys: KEYS },
  { request: { prefix: '/a' }, keys: ['/a', '/a/1', '/a/2', '/a/3'] },
  { request: { prefix: '/a/' }, keys: ['/a/1', '/a/2', '/a/3'] },
  { request: { prefix: '/x' }, keys: [] },
  { request: { start: '/a/2' }, keys: ['/a/2', '/a/3', '/b', '/b/1', '/c'] },
  { request: { start: '/a/2', end: '/b/1' }, keys: ['/a/2', '/a/3', '/b'] },
  { request: { end: '/a/1' }, keys: ['/a'] },
  { request: { start: '/b', end: '/a' }, keys: [] },
  { request: { start: '/b', end: '/b' }, keys: [] },
  { request: { end: '' }, keys: [] },
  { request: { prefix: '/a/', start: '/a/2' }, keys: ['/a/2', '/a/3'] },
  { request: { prefix: '/a/', start: keyAfter('/a/2') }, keys: ['/a/3'] },
  { request: { prefix: '/a/', start: '/', end: '/z' }, keys: ['/a/1', '/a/2', '/a/3'] },
  { request: { prefix: '/b', start: '/a', end: '/b/1' }, keys: ['/b'] },
];

export function readRules(engine: ContractEngine): void {
  test('G9: a value is found by its key and revision, where that can be done at once', async () => {
    await using store = await engine.open();
    if (store.valueAt === undefined) return;
    const first = await write(store, put('/a', '1'));
    const { revision: second } = await store.txn({ write: [put('/a', '2'), put('/b', '3')] });
    const third = await write(store, remove('/b'));
    const valueAt = (key: string, revision: number) => text(store.valueAt!(key, revision));
    expect([valueAt('/a', first), valueAt('/a', second), valueAt('/b', second)]).toEqual(['1', '2', '3']);
    expect([store.valueAt('/b', first), store.valueAt('/b', third), store.valueAt('/none', first)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    await store.compact(third);
    await expect.poll(() => store.valueAt!('/a', first)).toBeUndefined();
    expect(valueAt('/a', second)).toBe('2');
  });

  test('G1: an answer holds what was written before, and names its revision', async () => {
    await using store = await engine.open();
    const first = await write(store, put('/a', '1'));
    expect(await store.get('/a')).toEqual({
      entry: { key: '/a', value: expect.anything(), createRevision: first, modRevision: first, version: 1, lease: undefined },
      revision: first,
    });
    const second = await write(store, put('/a', '2'), put('/b', '3'));
    const { entry, revision } = await store.get('/a');
    expect(text(entry?.value)).toBe('2');
    expect(revision).toBe(second);
    expect(await store.revision()).toBe(second);
    expect(await page(store, {})).toMatchObject({ revision: second, count: 2, more: false });
    expect(await store.get('/none')).toEqual({ entry: undefined, revision: second });
  });

  test('G1: concurrent reads see each write as soon as it is acknowledged', async () => {
    await using store = await engine.open();
    const worker = async (name: number) => {
      for (let i = 0; i < 20; i++) {
        const key = `/${name}`;
        const { revision } = await store.txn({ write: [put(key, String(i))] });
        const { entry, revision: at } = await store.get(key);
        expect(text(entry?.value)).toBe(String(i));
        expect(at).toBeGreaterThanOrEqual(revision);
        expect(entry!.modRevision).toBe(revision);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, name) => worker(name)));
  });

  test('G2: no answer holds a version newer than the revision it names', async () => {
    await using store = await engine.open();
    let isWriting = true;
    const writer = (async () => {
      for (let i = 0; i < 60; i++) await Promise.all([write(store, put(`/${i % 7}`)), write(store, put(`/${i % 5}`))]);
      isWriting = false;
    })();
    while (isWriting) {
      const { entries, revision } = await page(store, { prefix: '/' });
      for (const { modRevision } of entries) expect(modRevision).toBeLessThanOrEqual(revision);
      const value = await store.get('/1');
      expect(value.entry?.modRevision ?? 0).toBeLessThanOrEqual(value.revision);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writer;
  });

  test('G3: a range holds the keys of its prefix and bounds', async () => {
    await using store = await engine.open();
    await write(store, ...KEYS.map((key) => put(key)), put('/gone'), remove('/gone'));
    for (const { request, keys } of RANGES) {
      const answer = await page(store, request);
      expect(keysOf(answer), JSON.stringify(request)).toEqual(keys);
      expect(answer).toMatchObject({ more: false, count: keys.length });
    }
  });

  test('G4: a limit cuts the answer, and the count is that of the whole range when asked for', async () => {
    await using store = await engine.open();
    await write(store, ...KEYS.map((key) => put(key)));
    expect(await page(store, { limit: 3 })).toMatchObject({ more: true, count: undefined, entries: { length: 3 } });
    expect(await page(store, { limit: 3, withCount: true })).toMatchObject({ more: true, count: 7, entries: { length: 3 } });
    expect(await page(store, { limit: 7 })).toMatchObject({ more: false, count: 7, entries: { length: 7 } });
    expect(await page(store, { limit: 100 })).toMatchObject({ more: false, count: 7 });
    expect(await page(store, { prefix: '/a/', limit: 2, withCount: true })).toMatchObject({ more: true, count: 3 });
  });

  test('G5: keys come without values, and a count without keys', async () => {
    await using store = await engine.open();
    await write(store, ...KEYS.map((key) => put(key)));
    const answer = await page(store, { prefix: '/a/', select: 'keys' });
    expect(keysOf(answer)).toEqual(['/a/1', '/a/2', '/a/3']);
    for (const { value, version } of answer.entries) expect({ length: value.length, version }).toEqual({ length: 0, version: 1 });
    expect(await page(store, { prefix: '/a/', select: 'count' })).toMatchObject({ entries: [], count: 3, more: false });
  });

  test('G6: a range at a past revision answers as it would have then', async () => {
    await using store = await engine.open();
    const then: { readonly revision: number; readonly answer: unknown }[] = [];
    const changes = [
      put('/a', '1'),
      put('/b', '2'),
      put('/a', '3'),
      remove('/b'),
      put('/c', '4'),
      put('/b', '5'),
      remove('/a'),
      remove('/b'),
      put('/a', '6'),
    ];
    for (const change of changes) {
      const revision = await write(store, change);
      then.push({ revision, answer: await page(store, { prefix: '/' }) });
    }
    for (const { revision, answer } of then) expect(await page(store, { prefix: '/', revision })).toEqual(answer);
  });

  test('G7: pages at the revision of the first are one state, whatever is written meanwhile', async () => {
    await using store = await engine.open();
    const names = Array.from({ length: 25 }, (_, i) => `/${String(i).padStart(2, '0')}`);
    await write(store, ...names.map((key) => put(key, 'old')));
    const allKeys = await page(store, { prefix: '/' });
    const seen = [];
    let start = '';
    let revision: number | undefined;
    for (let hasMore = true, at = 0; hasMore; at += 4) {
      const answer: Awaited<ReturnType<typeof page>> = await page(store, {
        prefix: '/',
        start,
        limit: 4,
        ...(revision === undefined ? {} : { revision }),
      });
      ({ revision, more: hasMore } = answer);
      seen.push(...answer.entries);
      start = keyAfter(answer.entries.at(-1)!.key);
      await write(store, put(names[at]!, 'new'), remove(names[24 - at]!), put(`${names[at]}/more`));
    }
    expect(seen).toEqual(allKeys.entries);
  });

  test('G8: a revision not reached yet is refused', async () => {
    await using store = await engine.open();
    const revision = (await store.revision()) + 1;
    await expect(store.range({ revision })).rejects.toMatchObject({ code: 'future-revision' });
  });

  test('a range of many keys is complete', async () => {
    await using store = await engine.open();
    const keys = Array.from({ length: 5_000 }, (_, i) => `/many/${String(i).padStart(5, '0')}`);
    for (let at = 0; at < keys.length; at += 100) await store.txn({ write: keys.slice(at, at + 100).map((key) => put(key)) });
    expect(keysOf(await page(store, { prefix: '/many/' }))).toEqual(keys);
    expect(await page(store, { prefix: '/many/', limit: 4_000, withCount: true })).toMatchObject({
      count: 5_000,
      more: true,
      entries: { length: 4_000 },
    });
    expect(await page(store, { prefix: '/many/', limit: 4_000 })).toMatchObject({
      count: undefined,
      more: true,
      entries: { length: 4_000 },
    });
    expect(await page(store, { prefix: '/many/', limit: 5_000 })).toMatchObject({ count: 5_000, more: false });
    expect(await page(store, { prefix: '/many/', select: 'count' })).toMatchObject({ count: 5_000 });
  });
}
