import { expect, test } from 'vitest';
import type { Operation, WatchEvent } from '../store.ts';
import { watchStream } from '../watch-stream.ts';
import { type ContractEngine, lines, put, record, remove, text, until, write } from './contract-engine.ts';

export function watchRules(engine: ContractEngine): void {
  test('W1, W3: history comes first, then what happens', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    await write(store, put('/a', '1'), put('/b', '2'), put('/a', '3'), remove('/b'));
    using watch = record(store, { prefix: '/', fromRevision: start + 2 });
    await write(store, put('/c', '4'), remove('/a'));
    await until(() => watch.events.length >= 5, 'five events came');
    expect(lines(watch.events)).toEqual([
      `put /b 2 @${start + 2}`,
      `put /a 3 @${start + 3}`,
      `delete /b @${start + 4}`,
      `put /c 4 @${start + 5}`,
      `delete /a @${start + 6}`,
    ]);
    expect(watch.events[1]).toMatchObject({ createRevision: start + 1, version: 2, lease: undefined, prevValue: undefined });
    expect(watch.events[2]).toMatchObject({ value: undefined, createRevision: 0, version: 0 });
  });

  test('W1: a watch sees its prefix and nothing else', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    using watch = record(store, { prefix: '/a/', fromRevision: start + 1 });
    await write(store, put('/a'), put('/a/1'), put('/b'), put('/a0'), remove('/a'), put('/a/2'));
    await store.txn({ write: [put('/b'), put('/a/3'), put('/c')] });
    await until(() => watch.events.length >= 3, 'three events came');
    expect(watch.events.map(({ key }) => key)).toEqual(['/a/1', '/a/2', '/a/3']);
  });

  test('W1: nothing is missing and nothing comes twice, while many write and watches begin', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    const watches = [record(store, { prefix: '/', fromRevision: start + 1 })];
    const writer = async (name: number) => {
      for (let i = 0; i < 40; i++) {
        await store.txn({
          write: [put(`/${name}/${i % 5}`, String(i)), i % 3 === 0 ? remove(`/${name}/${(i + 1) % 5}`) : put(`/${name}/x`, String(i))],
        });
        if (i % 10 === name) watches.push(record(store, { prefix: '/', fromRevision: start + 1 }));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)));
    const last = await store.revision();
    await until(() => watches.every(({ events }) => events.at(-1)?.modRevision === last), 'every watch is up to date');
    const [first, ...others] = watches;
    expect(revisionsOf(first!.events)).toEqual(Array.from({ length: last - start }, (_, i) => start + 1 + i));
    for (const other of others) expect(lines(other.events)).toEqual(lines(first!.events));
    for (const watch of watches) watch.cancel();
  });

  test('W2: the events of a transaction come together, in the order of its operations', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    using live = record(store, { prefix: '/', fromRevision: start + 1 });
    const operations = (round: number): Operation[] => [
      put('/c', String(round)),
      put('/a', String(round)),
      round % 2 ? remove('/b') : put('/b'),
    ];
    await Promise.all(Array.from({ length: 20 }, (_, round) => store.txn({ write: operations(round) })));
    using past = record(store, { prefix: '/', fromRevision: start + 1 });
    const last = await store.revision();
    await until(() => [live, past].every(({ events }) => events.at(-1)?.modRevision === last), 'both are up to date');
    for (const { batches } of [live, past]) {
      const seen = new Set<number>();
      for (const batch of batches) {
        for (const revision of new Set(batch.map(({ modRevision }) => modRevision))) {
          expect(seen.has(revision), `revision ${revision} in two batches`).toBe(false);
          seen.add(revision);
          const keys = batch.filter(({ modRevision }) => modRevision === revision).map(({ key }) => key);
          expect(['/c', '/a', '/b'].slice(0, keys.length)).toEqual(keys);
        }
      }
    }
    expect(lines(past.events)).toEqual(lines(live.events));
  });

  test('W3: without a revision a watch begins with the next one', async () => {
    await using store = await engine.open();
    await write(store, put('/old'));
    using watch = record(store, { prefix: '/' });
    await write(store, put('/new'));
    await until(() => watch.events.length > 0, 'an event came');
    expect(watch.events.map(({ key }) => key)).toEqual(['/new']);
  });

  test('W4: a watch may begin in the future', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    using watch = record(store, { prefix: '/', fromRevision: start + 3 });
    await write(store, put('/1'), put('/2'), put('/3'), put('/4'));
    await until(() => watch.events.length >= 2, 'two events came');
    expect(watch.events.map(({ key }) => key)).toEqual(['/3', '/4']);
  });

  test('W5: the value before comes on request', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    using live = record(store, { prefix: '/', fromRevision: start + 1, prevValue: true });
    await write(store, put('/a', '1'), put('/a', '2'), remove('/a'), put('/a', '3'));
    await store.txn({ write: [put('/a', '4'), put('/b', '5')] });
    using past = record(store, { prefix: '/', fromRevision: start + 1, prevValue: true });
    using without = record(store, { prefix: '/', fromRevision: start + 1 });
    await until(() => [live, past, without].every(({ events }) => events.length === 6), 'all events came');
    for (const { events } of [live, past])
      expect(events.map(({ prevValue }) => text(prevValue))).toEqual([undefined, '1', '2', undefined, '3', undefined]);
    expect(without.events.map(({ prevValue }) => prevValue)).toEqual(Array(6).fill(undefined));
  });

  test('W6: a watch of history that is gone ends and says from where history is complete', async () => {
    await using store = await engine.open();
    const revision = await write(store, put('/a'), put('/a'), put('/a'), put('/b'));
    await store.compact(revision - 1);
    for (const fromRevision of [revision - 2, revision - 1]) {
      using watch = record(store, { prefix: '/', fromRevision });
      await until(() => watch.ends.length > 0, `the watch from ${fromRevision} ended`);
      expect(watch.ends).toEqual([{ code: 'compacted', compactRevision: revision - 1 }]);
      expect(watch.events).toEqual([]);
    }
    using watch = record(store, { prefix: '/', fromRevision: revision });
    await until(() => watch.events.length > 0, 'the event came');
    expect(watch.events.map(({ key }) => key)).toEqual(['/b']);
  });

  test('W7: a progress mark comes when asked for, and is true', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    using watch = record(store, { prefix: '/quiet/', fromRevision: start + 1 });
    const revision = await write(store, put('/quiet/1'), put('/loud/1'), put('/loud/2'));
    await until(() => watch.events.length === 1, 'the event came');
    if (!watch.requestProgress()) return;
    await until(() => (watch.marks.at(-1) ?? 0) >= revision, 'the mark came');
    expect(watch.events).toHaveLength(1);
  });

  test('W8: a store with local reads has told its watches before it acknowledges', async () => {
    await using store = await engine.open();
    if (!store.localReads) return;
    using watch = record(store, { prefix: '/' });
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const { revision } = await store.txn({ write: [put(`/${i}`)] });
        expect(watch.events.some(({ modRevision }) => modRevision === revision)).toBe(true);
      }),
    );
    expect((await store.revision()) - 1).toBeGreaterThan(0);
  });

  test('W9: a slow consumer is ended by name, and holds up no one', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    await using slow = watchStream(store, { prefix: '/', fromRevision: start + 1, maxBufferedEvents: 20 });
    using quick = record(store, { prefix: '/', fromRevision: start + 1 });
    await write(store, ...Array.from({ length: 100 }, (_, i) => put(`/${i}`)));
    await until(() => quick.events.length === 100, 'the quick one has everything');
    const events: WatchEvent[] = [];
    let reason: unknown;
    for await (const item of slow) {
      if (item.type === 'events') events.push(...item.events);
      if (item.type === 'end') reason = item.reason;
    }
    expect(reason).toEqual({ code: 'slow' });
    expect(revisionsOf(events)).toEqual(Array.from({ length: events.length }, (_, i) => start + 1 + i));
    expect(events.length).toBeLessThanOrEqual(100);
  });

  test('W9: a sink that throws ends its own watch only', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    const ends: unknown[] = [];
    store.watch(
      { prefix: '/', fromRevision: start + 1 },
      {
        events() {
          throw new Error('broken sink');
        },
        progress() {},
        end: (reason) => void ends.push(reason),
      },
    );
    using other = record(store, { prefix: '/', fromRevision: start + 1 });
    await write(store, put('/1'), put('/2'));
    await until(() => other.events.length === 2 && ends.length > 0, 'both saw it');
    expect(ends).toEqual([{ code: 'failed', error: new Error('broken sink') }]);
  });

  test('W10: nothing comes after a watch was cancelled', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    const cancelled = record(store, { prefix: '/', fromRevision: start + 1 });
    using other = record(store, { prefix: '/', fromRevision: start + 1 });
    await write(store, put('/1'));
    await until(() => cancelled.events.length === 1, 'the first event came');
    cancelled.cancel();
    await write(store, put('/2'));
    await until(() => other.events.length === 2, 'the other has both');
    expect({ events: cancelled.events.length, ends: cancelled.ends }).toEqual({ events: 1, ends: [] });
  });

  test('a watch can be followed as a stream, and stopped by its signal', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    await write(store, put('/1'), put('/2'));
    const controller = new AbortController();
    const seen: string[] = [];
    const follow = async () => {
      for await (const item of watchStream(store, { prefix: '/', fromRevision: start + 1, signal: controller.signal })) {
        if (item.type === 'events') seen.push(...item.events.map(({ key }) => key));
        if (seen.length === 3) controller.abort(new Error('enough'));
      }
    };
    const following = expect(follow()).rejects.toThrow('enough');
    await write(store, put('/3'));
    await following;
    expect(seen).toEqual(['/1', '/2', '/3']);
  });

  test('a sink may write, and everyone still sees the changes in order', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    const writes: Promise<unknown>[] = [];
    using echo = record(store, { prefix: '/echo/', fromRevision: start + 1 });
    using writer = record(store, { prefix: '/call/', fromRevision: start + 1 });
    store.watch(
      { prefix: '/call/', fromRevision: start + 1 },
      {
        events: (batch) => {
          for (const { key } of batch) writes.push(store.txn({ write: [put(key.replace('call', 'echo'))] }));
        },
        progress() {},
        end() {},
      },
    );
    using all = record(store, { prefix: '/', fromRevision: start + 1 });
    await write(store, ...Array.from({ length: 10 }, (_, i) => put(`/call/${i}`)));
    await until(() => echo.events.length === 10 && writer.events.length === 10, 'the echoes came');
    await Promise.all(writes);
    const last = await store.revision();
    await until(() => all.events.at(-1)?.modRevision === last, 'all came');
    expect(revisionsOf(all.events)).toEqual(Array.from({ length: last - start }, (_, i) => start + 1 + i));
  });

  test('a long history is delivered whole', async () => {
    await using store = await engine.open();
    const start = await store.revision();
    for (let i = 0; i < 60; i++) await store.txn({ write: Array.from({ length: 50 }, (_, j) => put(`/${j}`, `${i}`)) });
    using watch = record(store, { prefix: '/', fromRevision: start + 1 });
    await until(() => watch.events.length === 3_000, 'all events came');
    expect(revisionsOf(watch.events)).toEqual(Array.from({ length: 60 }, (_, i) => start + 1 + i));
  });
}

/** The distinct revisions, in order of arrival. */
function revisionsOf(events: readonly WatchEvent[]): number[] {
  return events.map(({ modRevision }) => modRevision).filter((revision, i, all) => revision !== all[i - 1]);
}
