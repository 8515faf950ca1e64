import { expect, test } from 'vitest';
import type { LazyValue } from '../lazy-value.ts';
import { MAX_KEY_BYTES, MAX_OPERATIONS, MAX_REQUEST_BYTES, OPERATION_BYTES } from '../limits.ts';
import type { Operation, Store, TxnRequest } from '../store.ts';
import { bytes, type ContractEngine, keysOf, lines, page, put, record, remove, text, until, write } from './contract-engine.ts';

/** The order of UTF-8 differs from that of UTF-16 where a surrogate meets U+E000 to U+FFFF. */
const ORDERED = ['/\0', '/ ', '/A', '/a', '/a\0', '/a\0\0', '/a/b', '/aa', '/z', '/é', '/中', '/\ue000', '/\uffff', '/😀', '/😁/x'];

const BAD_KEYS: readonly { readonly problem: string; readonly key: string; readonly code: string }[] = [
  { problem: 'an empty key', key: '', code: 'invalid' },
  { problem: 'a key that is over-long', key: '/'.repeat(MAX_KEY_BYTES + 1), code: 'too-large' },
  { problem: 'a key that is over-long in bytes', key: '中'.repeat(MAX_KEY_BYTES / 2), code: 'too-large' },
  { problem: 'a key with half a surrogate pair', key: '/\ud83d', code: 'invalid' },
];

const half = Buffer.alloc(MAX_REQUEST_BYTES / 2, 1);

const BAD_TRANSACTIONS: readonly { readonly problem: string; readonly request: TxnRequest; readonly code: string }[] = [
  {
    problem: 'a value over the limit',
    request: { write: [{ type: 'put', key: '/a', value: Buffer.alloc(MAX_REQUEST_BYTES) }] },
    code: 'too-large',
  },
  {
    problem: 'values that are over the limit together',
    request: { write: ['/a', '/b'].map((key): Operation => ({ type: 'put', key, value: half })) },
    code: 'too-large',
  },
  {
    problem: 'too many operations',
    request: { write: Array.from({ length: MAX_OPERATIONS + 1 }, (_, i) => put(`/${i}`)) },
    code: 'too-large',
  },
  { problem: 'a key twice', request: { write: [put('/a'), remove('/a')] }, code: 'invalid' },
  { problem: 'a negative revision', request: { compare: [{ key: '/a', modRevision: -1 }], write: [put('/a')] }, code: 'invalid' },
  { problem: 'half a revision', request: { compare: [{ key: '/a', modRevision: 1.5 }], write: [put('/a')] }, code: 'invalid' },
  { problem: 'an empty key compared', request: { compare: [{ key: '', modRevision: 1 }], write: [put('/a')] }, code: 'invalid' },
  { problem: 'an empty key read', request: { write: [put('/a')], elseRead: [''] }, code: 'invalid' },
  { problem: 'a time to live of nothing', request: { write: [put('/a', 'v', { ttlSeconds: 0 })] }, code: 'invalid' },
  { problem: 'a lease that is none', request: { write: [put('/a', 'v', { lease: 'mine' })] }, code: 'invalid' },
  { problem: 'a value that is no bytes', request: { write: [{ type: 'put', key: '/a', value: 'text' as never }] }, code: 'invalid' },
];

const lazy = (value: Uint8Array, mostBytes = value.length): LazyValue => ({ bytes: value, mostBytes });

export function inputRules(engine: ContractEngine): void {
  test('K1: keys are ordered as their UTF-8 bytes are', async () => {
    await using store = await engine.open();
    await write(store, ...[...ORDERED].reverse().map((key) => put(key)));
    expect(keysOf(await page(store, { prefix: '/' }))).toEqual(ORDERED);
    for (const [index, key] of ORDERED.entries()) {
      expect(keysOf(await page(store, { prefix: '/', start: key })), `from ${key}`).toEqual(ORDERED.slice(index));
      expect(keysOf(await page(store, { prefix: '/', end: key })), `up to ${key}`).toEqual(ORDERED.slice(0, index));
    }
  });

  test('K2: a key may be as long as the limit', async () => {
    await using store = await engine.open();
    const longest = ['/'.padEnd(MAX_KEY_BYTES, 'x'), `/${'中'.repeat((MAX_KEY_BYTES - 1) / 3)}`];
    await write(store, ...longest.map((key) => put(key)));
    expect(keysOf(await page(store, {}))).toEqual(longest);
    for (const key of longest) expect((await store.get(key)).entry?.key).toBe(key);
  });

  test('K3: a value comes back as it was put, whatever its size', async () => {
    await using store = await engine.open();
    const values = [0, 1, 100, 4_000, 5_000, 70_000, 1_000_000].map((size) => Buffer.alloc(size, size % 251));
    for (const [i, value] of values.entries()) await store.txn({ write: [{ type: 'put', key: `/${i}`, value }] });
    for (const [i, value] of values.entries()) expect(value.equals((await store.get(`/${i}`)).entry?.value as Buffer)).toBe(true);
    const { entries } = await page(store, { prefix: '/' });
    for (const [i, value] of values.entries()) expect(value.equals(entries[i]!.value)).toBe(true);
  });

  test('K6: a lazy value is its bytes to all who read it, now, at a past revision and in watches', async () => {
    await using store = await engine.open();
    using watch = record(store, { prefix: '/', prevValue: true });
    const put = (value: string) => store.txn({ write: [{ type: 'put', key: '/a', value: lazy(bytes(value)) }] });
    const { revision } = await put('first');
    await put('second');
    expect(text((await store.get('/a')).entry?.value)).toBe('second');
    expect((await page(store, { prefix: '/', revision })).entries.map(({ value }) => text(value))).toEqual(['first']);
    const [keyOnly] = (await page(store, { prefix: '/', select: 'keys' })).entries;
    expect([keyOnly?.key, keyOnly?.version, keyOnly?.value.length]).toEqual(['/a', 2, 0]);
    await until(() => watch.events.length >= 2, 'two events came');
    expect(lines(watch.events)).toEqual([`put /a first @${revision}`, `put /a second @${revision + 1}`]);
    expect(text(watch.events[1]!.prevValue)).toBe('first');
  });

  test('K6: the size limit applies to the size of a lazy value, not to its upper bound', async () => {
    await using store = await engine.open();
    const write = (value: LazyValue) => store.txn({ write: [{ type: 'put', key: '/a', value }] });
    await write(lazy(bytes('small'), MAX_REQUEST_BYTES * 2));
    expect(text((await store.get('/a')).entry?.value)).toBe('small');
    await expect(write(lazy(Buffer.alloc(MAX_REQUEST_BYTES)))).rejects.toMatchObject({
      code: 'too-large',
      message: 'etcdserver: request is too large',
    });
    await expect(write(lazy(Buffer.alloc(2 * MAX_REQUEST_BYTES)))).rejects.toThrow(
      'rpc error: code = ResourceExhausted desc = trying to send message larger than max',
    );
  });

  test.each(BAD_KEYS)('K5: $what is refused everywhere', async ({ key, code }) => {
    await using store = await engine.open();
    const before = await store.revision();
    await expect(store.get(key)).rejects.toMatchObject({ name: 'StoreError', code });
    await expect(store.txn({ write: [{ type: 'put', key, value: bytes('') }] })).rejects.toMatchObject({ code });
    await expect(store.txn({ write: [remove(key)] })).rejects.toMatchObject({ code });
    expect(await store.revision()).toBe(before);
  });

  test.each(BAD_TRANSACTIONS)('K4, K5: $what is refused and writes nothing', async ({ request, code }) => {
    await using store = await engine.open();
    const before = await store.revision();
    await expect(store.txn(request)).rejects.toMatchObject({ name: 'StoreError', code });
    expect(await store.revision()).toBe(before);
  });

  test('K4: a transaction may be as large as the limits', async () => {
    await using store = await engine.open();
    const many = await store.txn({ write: Array.from({ length: MAX_OPERATIONS }, (_, i) => put(`/${i}`)) });
    expect(await page(store, { select: 'count' })).toMatchObject({ count: MAX_OPERATIONS, revision: many.revision });
    const large = Buffer.alloc(MAX_REQUEST_BYTES - OPERATION_BYTES - '/large'.length, 7);
    await store.txn({ write: [{ type: 'put', key: '/large', value: large }] });
    expect(large.equals((await store.get('/large')).entry?.value as Buffer)).toBe(true);
  });

  test.each<[string, (store: Store) => unknown]>([
    ['a limit of nothing', (store) => store.range({ limit: 0 })],
    ['a limit of a half', (store) => store.range({ limit: 0.5 })],
    ['revision 0', (store) => store.range({ revision: 0 })],
    ['no number as a revision', (store) => store.range({ revision: Number.NaN })],
    ['a compaction of revision 0', (store) => store.compact(0)],
    ['a lease of no time', (store) => store.grantLease(0)],
    ['a lease of endless time', (store) => store.grantLease(Number.MAX_SAFE_INTEGER)],
    ['a watch from revision 0', async (store) => store.watch({ fromRevision: 0 }, { events() {}, progress() {}, end() {} })],
  ])('K5: %s is refused', async (_, call) => {
    await using store = await engine.open();
    await expect(call(store)).rejects.toMatchObject({ code: 'invalid' });
  });
}
