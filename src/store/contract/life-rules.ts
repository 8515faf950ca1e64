import { expect, test } from 'vitest';
import type { Store } from '../store.ts';
import { type ContractEngine, keysOf, page, put, record, until, write } from './contract-engine.ts';

const CALLS: readonly [string, (store: Store, signal?: AbortSignal) => Promise<unknown>][] = [
  ['revision', (store, signal) => store.revision(signal)],
  ['get', (store, signal) => store.get('/a', signal)],
  ['range', (store, signal) => store.range({}, signal)],
  ['txn', (store, signal) => store.txn({ write: [put('/cancelled')] }, signal)],
  ['grantLease', (store, signal) => store.grantLease(10, signal)],
  ['renewLease', (store, signal) => store.renewLease('1', signal)],
  ['revokeLease', (store, signal) => store.revokeLease('1', signal)],
  ['compact', (store, signal) => store.compact(1, signal)],
  ['defragment', (store, signal) => store.defragment(signal)],
  ['status', (store, signal) => store.status(signal)],
];

export function lifecycleRules(engine: ContractEngine): void {
  test.each(CALLS)('X1: %s with an aborted signal rejects with its reason and does nothing', async (_, call) => {
    await using store = await engine.open();
    const before = await store.revision();
    await expect(call(store, AbortSignal.abort(new Error('changed my mind')))).rejects.toThrow('changed my mind');
    expect(await store.revision()).toBe(before);
  });

  test('X1: a call cancelled under way rejects at once, and the store goes on', async () => {
    await using store = await engine.open();
    const controllers = Array.from({ length: 20 }, () => new AbortController());
    const first = store.txn({ write: [put('/first')] });
    const others = controllers.map(({ signal }, i) => store.txn({ write: [put(`/other/${i}`)] }, signal));
    for (const controller of controllers) controller.abort(new Error('stop'));
    const settled = await Promise.allSettled(others);
    await first;
    for (const result of settled) {
      if (result.status === 'rejected') expect(result.reason).toEqual(new Error('stop'));
    }
    await write(store, put('/last'));
    expect(keysOf(await page(store, { prefix: '/last' }))).toEqual(['/last']);
  });

  test('X2: a closed store ends its watches and refuses calls', async () => {
    const store = await engine.open();
    const start = await store.revision();
    const watch = record(store, { prefix: '/', fromRevision: start + 1 });
    await write(store, put('/a'));
    await until(() => watch.events.length === 1, 'the event came');
    await store.close();
    expect(watch.ends).toEqual([{ code: 'closed' }]);
    for (const [, call] of CALLS) await expect(call(store)).rejects.toMatchObject({ code: 'closed' });
    expect(() => record(store, {})).toThrow(/closed/);
    await store.close();
  });

  test('X2: writes accepted before the close are finished', async () => {
    const store = await engine.open();
    const writes = Array.from({ length: 50 }, (_, i) => store.txn({ write: [put(`/${i}`)] }));
    const closing = store.close();
    const results = await Promise.all(writes);
    await closing;
    expect(results.every(({ succeeded }) => succeeded)).toBe(true);
  });

  test('status has revision and size', async () => {
    await using store = await engine.open();
    const revision = await write(store, put('/a', 'x'.repeat(1_000)));
    const status = await store.status();
    expect(status).toMatchObject({ engine: store.engine, revision, version: expect.any(String) });
    expect(status.sizeBytes).toBeGreaterThan(0);
    expect(status.usedBytes).toBeLessThanOrEqual(status.sizeBytes);
    expect(status.fragmentation).toBeGreaterThanOrEqual(0);
    expect(status.fragmentation).toBeLessThan(1);
  });
}
