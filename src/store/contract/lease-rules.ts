import { expect, test } from 'vitest';
import type { Store } from '../store.ts';
import { type ContractEngine, keysOf, lines, page, put, record, remove, until, write } from './contract-engine.ts';

/** The shortest that every engine keeps to. */
const TTL_SECONDS = 2;

export function leaseRules(engine: ContractEngine): void {
  const expired = async (store: Store, key: string) => {
    for (let waited = 0; waited < 40 && (await store.get(key)).entry !== undefined; waited++) await engine.passTime(250);
    expect((await store.get(key)).entry).toBeUndefined();
  };

  test('L1: revoking a lease deletes its keys, as changes like any other', async () => {
    await using store = await engine.open();
    const { id } = await store.grantLease(600);
    const { id: other } = await store.grantLease(600);
    const start = await write(
      store,
      put('/a', '1', { lease: id }),
      put('/b', '2', { lease: id }),
      put('/c', '3', { lease: other }),
      put('/d'),
    );
    expect((await store.get('/a')).entry?.lease).toBe(id);
    using watch = record(store, { prefix: '/', fromRevision: start + 1, prevValue: true });
    expect(await store.revokeLease(id)).toBe(true);
    expect(keysOf(await page(store, {}))).toEqual(['/c', '/d']);
    await until(() => watch.events.length === 2, 'both deletes came');
    expect(watch.events.map(({ type, key }) => `${type} ${key}`).sort()).toEqual(['delete /a', 'delete /b']);
    expect(await store.revokeLease(id)).toBe(false);
    expect(await store.renewLease(id)).toBeUndefined();
  });

  test('L1, L2: the keys of a lease go when its time is over, and not before', async () => {
    await using store = await engine.open();
    const { id, ttlSeconds } = await store.grantLease(TTL_SECONDS);
    expect(ttlSeconds).toBe(TTL_SECONDS);
    const start = await write(store, put('/a', '1', { lease: id }));
    using watch = record(store, { prefix: '/', fromRevision: start });
    await engine.passTime(TTL_SECONDS * 500);
    expect((await store.get('/a')).entry).toBeDefined();
    await expired(store, '/a');
    await until(() => watch.events.length === 2, 'the delete came');
    expect(lines(watch.events)).toEqual([`put /a 1 @${start}`, `delete /a @${start + 1}`]);
  });

  test('L2: a renewed lease lives on', async () => {
    await using store = await engine.open();
    const { id } = await store.grantLease(TTL_SECONDS);
    await write(store, put('/a', '1', { lease: id }));
    for (let i = 0; i < 4; i++) {
      await engine.passTime(TTL_SECONDS * 400);
      expect(await store.renewLease(id)).toEqual({ id, ttlSeconds: TTL_SECONDS });
    }
    expect((await store.get('/a')).entry).toBeDefined();
    await expired(store, '/a');
  });

  test('L3: a put without the lease takes the key out of it', async () => {
    await using store = await engine.open();
    const { id } = await store.grantLease(600);
    const { id: second } = await store.grantLease(600);
    await write(
      store,
      put('/kept', '1', { lease: id }),
      put('/moved', '1', { lease: id }),
      put('/again', '1', { lease: id }),
      put('/lost', '1', { lease: id }),
    );
    await write(store, put('/kept', '2'), put('/moved', '2', { lease: second }), remove('/again'), put('/again', '2'));
    await store.revokeLease(id);
    expect(keysOf(await page(store, {}))).toEqual(['/again', '/kept', '/moved']);
    await store.revokeLease(second);
    expect(keysOf(await page(store, {}))).toEqual(['/again', '/kept']);
  });

  test('L4: a key with a time to live expires', async () => {
    await using store = await engine.open();
    await write(store, put('/event', '1', { ttlSeconds: TTL_SECONDS }), put('/stays'));
    expect((await store.get('/event')).entry?.lease).toBeDefined();
    await engine.passTime(TTL_SECONDS * 500);
    expect((await store.get('/event')).entry).toBeDefined();
    await expired(store, '/event');
    expect(keysOf(await page(store, {}))).toEqual(['/stays']);
  });

  test('L4: keys of a like age share a lease', async () => {
    await using store = await engine.open();
    await write(store, put('/1', '1', { ttlSeconds: 3_600 }), put('/2', '1', { ttlSeconds: 3_600 }), put('/3', '1', { ttlSeconds: 7_200 }));
    const leases = (await page(store, {})).entries.map(({ lease }) => lease);
    expect(leases[0]).toBe(leases[1]);
    expect(leases[0]).not.toBe(leases[2]);
  });

  test('L5: a lease that does not exist is refused, and nothing is written', async () => {
    await using store = await engine.open();
    const before = await store.revision();
    await expect(store.txn({ write: [put('/a'), put('/b', '1', { lease: 'dead' })] })).rejects.toMatchObject({ code: 'lease-not-found' });
    expect(await store.revision()).toBe(before);
    expect(keysOf(await page(store, {}))).toEqual([]);
  });
}
