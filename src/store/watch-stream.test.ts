import { describe, expect, test } from 'vitest';
import { put, record, until, write } from './contract/contract-engine.ts';
import { openMemoryStore } from './memory/memory-store.ts';
import { type WatchItem, watchStream } from './watch-stream.ts';

describe('a stream of a watch', () => {
  test('begins at once, not with the first iteration', async () => {
    await using store = openMemoryStore();
    await using stream = watchStream(store, { prefix: '/' });
    await write(store, put('/a'));
    expect(await stream.next()).toMatchObject({ value: { type: 'events', revision: 2 } });
  });

  test('takes one batch however large, so that a transaction is never cut', async () => {
    await using store = openMemoryStore();
    await using stream = watchStream(store, { prefix: '/', maxBufferedEvents: 1 });
    await store.txn({ write: [put('/a'), put('/b'), put('/c')] });
    expect(((await stream.next()).value as { events: unknown[] }).events).toHaveLength(3);
    await store.txn({ write: [put('/a'), put('/b')] });
    await store.txn({ write: [put('/c')] });
    const rest: WatchItem[] = [];
    for await (const item of stream) rest.push(item);
    expect(rest.map(({ type }) => type)).toEqual(['events', 'end']);
    expect(rest.at(-1)).toEqual({ type: 'end', reason: { code: 'slow' } });
  });

  test('keeps the latest of several progress marks', async () => {
    await using store = openMemoryStore();
    await using stream = watchStream(store, { prefix: '/quiet/', progress: true, fromRevision: 1 });
    await until(async () => (await stream.next()).value?.type === 'progress', 'caught up');
    expect(await store.revision()).toBe(1);
  });

  test('ends with the reason, then is over', async () => {
    const store = openMemoryStore();
    const stream = watchStream(store, { prefix: '/' });
    await store.close();
    expect([await stream.next(), await stream.next()]).toEqual([
      { done: false, value: { type: 'end', reason: { code: 'closed' } } },
      { done: true, value: undefined },
    ]);
  });

  test('is closed by leaving the loop', async () => {
    await using store = openMemoryStore();
    const stream = watchStream(store, { prefix: '/' });
    await write(store, put('/a'), put('/b'));
    for await (const item of stream) {
      expect(item.type).toBe('events');
      break;
    }
    await write(store, put('/c'));
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test('rejects a pending read when its signal aborts', async () => {
    await using store = openMemoryStore();
    const controller = new AbortController();
    const stream = watchStream(store, { prefix: '/', signal: controller.signal });
    const waiting = stream.next();
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(() => watchStream(store, { signal: controller.signal })).toThrow('enough');
  });
});

describe('watches in one process', () => {
  test('share one batch among the watchers of a prefix', async () => {
    await using store = openMemoryStore();
    using a = record(store, { prefix: '/a/' });
    using b = record(store, { prefix: '/a/' });
    await write(store, put('/a/1'));
    expect(a.batches[0]).toBe(b.batches[0]);
  });

  test('may be cancelled and begun by a sink while it is called', async () => {
    await using store = openMemoryStore();
    const late: string[] = [];
    using other = record(store, { prefix: '/' });
    const handle = store.watch(
      { prefix: '/' },
      {
        events(batch) {
          handle.cancel();
          other.cancel();
          store.watch({ prefix: '/' }, { events: (changes) => void late.push(...changes.map(({ key }) => key)), progress() {}, end() {} });
          expect(batch).toHaveLength(1);
        },
        progress() {},
        end() {},
      },
    );
    await write(store, put('/1'), put('/2'));
    expect(late).toEqual(['/2']);
  });
});
