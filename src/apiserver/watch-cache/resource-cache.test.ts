import { describe, expect, test } from 'vitest';
import { silentLogger, VirtualClock } from '#base';
import type { Store } from '#store';
import type { KubeObject } from './kube-object.ts';
import { StoredObject } from './object-encoding.ts';
import { ALL, beginWatch, colourOf, ENCODING, names, only, open, PREFIX, recorder } from './resource-cache.test-setup.ts';
import { ResourceCache } from './resource-cache.ts';

describe('the state of a watch cache', () => {
  test('S1: is read once for all who start it', async () => {
    await using at = await open();
    await at.put('a', 'red');
    await Promise.all([at.cache.start(), at.cache.start()]);
    expect(names(at.cache.objects())).toEqual(['a']);
  });

  test('S2, S6: is fresh when that is asked for, and in the order of keys', async () => {
    await using at = await open();
    await at.cache.start();
    for (const name of ['c', 'a', 'b']) await at.put(name, 'red');
    await at.cache.fresh();
    expect(names(at.cache.objects())).toEqual(['a', 'b', 'c']);
    expect(names(at.cache.objects(`${PREFIX}b`))).toEqual(['b']);
  });

  test('S3: reaches a revision when its write has come, and at once when it has', async () => {
    await using at = await open();
    await at.cache.start();
    const reached = at.cache.reached(at.cache.revision + 1);
    const revision = await at.put('a', 'red');
    await reached;
    expect(at.cache.revision).toBe(revision);
    await at.cache.reached(revision);
  });

  test('S4, S5: stays known as it was', async () => {
    await using at = await open();
    const first = await at.put('a', 'red');
    await at.cache.fresh();
    const snapshot = at.cache.snapshot();
    await at.put('b', 'red');
    await at.remove('a');
    await at.cache.fresh();
    expect(snapshot.get(`${PREFIX}a`)?.revision).toBe(first);
    expect(snapshot.get(`${PREFIX}b`)).toBeUndefined();
    const then = await at.cache.snapshotAt(first);
    expect([then?.get(`${PREFIX}a`)?.revision, then?.get(`${PREFIX}b`)]).toEqual([first, undefined]);
    await at.store.compact(at.cache.revision);
    expect(await at.cache.snapshotAt(first + 1)).toBeUndefined();
  });

  test('S5: a past state that is read again and again is gone once the store has compacted it', async () => {
    await using at = await open();
    const first = await at.put('a', 'red');
    await at.cache.fresh();
    at.cache.keepSnapshot(first, at.cache.snapshot());
    await at.put('b', 'red');
    const answers: boolean[] = [];
    for (let seconds = 20; seconds <= 400; seconds += 20) {
      await at.clock.advance(20_000);
      answers.push((await at.cache.snapshotAt(first)) !== undefined);
    }
    expect([answers.at(0), answers.at(-1)]).toEqual([true, false]);
  });

  test('S7: may begin with that of another, and goes its own way', async () => {
    await using origin = await open();
    await origin.put('a', 'red');
    const revision = await origin.put('b', 'red');
    await origin.cache.start();
    const objects = origin.cache.snapshot();
    await using store = origin.store.fork();
    // Written before the other cache is there, and after.
    const value = ENCODING.encodeStored({ metadata: { name: 'c' }, colour: 'blue' } as unknown as KubeObject).bytes;
    await store.txn({ write: [{ type: 'put', key: `${PREFIX}c`, value }] });
    let reads = 0;
    const counted = new Proxy<Store>(store, {
      get(target, name: keyof Store) {
        if (name === 'range') reads++;
        const member = target[name];
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const options = { store: counted, prefix: PREFIX, encoding: ENCODING, logger: silentLogger, clock: new VirtualClock() };
    const cache = new ResourceCache({ ...options, initial: { revision, objects } });
    await cache.start();
    await store.txn({ write: [{ type: 'delete', key: `${PREFIX}a` }] });
    await origin.put('d', 'green');
    const names = (of: ResourceCache) => [...of.objects()].map(({ object }) => object.metadata.name);
    expect(names(cache)).toEqual(['b', 'c']);
    expect(names(origin.cache)).toEqual(['a', 'b', 'd']);
    expect(cache.get(`${PREFIX}b`)).toBe(origin.cache.get(`${PREFIX}b`));
    expect(reads).toBe(0);
    cache.close();
  });
});

test('an object written by this server is cached without decoding, and encoded on demand', async () => {
  await using at = await open();
  await at.cache.start();
  const object = { kind: 'Thing', apiVersion: 'example.com/v1', metadata: { name: 'a' }, colour: 'red' } as unknown as KubeObject;
  const stored = StoredObject.of(object, ENCODING);
  const { revision } = await at.store.txn({ write: [{ type: 'put', key: `${PREFIX}a`, value: stored }] });
  const cached = at.cache.get(`${PREFIX}a`);
  expect(cached?.object).toMatchObject({ colour: 'red', metadata: { resourceVersion: String(revision) } });
  expect(stored.ends).toBeUndefined();
  expect(JSON.parse(String(cached?.json()))).toEqual(cached?.object);
  expect(stored.ends).toBeDefined();
});

describe('a watch', () => {
  test('W1: after a revision gets what followed it and what comes, each once', async () => {
    await using at = await open();
    await at.cache.start();
    const first = await at.put('a', 'red');
    await at.put('a', 'blue');
    await at.cache.fresh();
    const { events, sink } = recorder();
    beginWatch(at.cache, ALL, sink, { since: first });
    await at.remove('a');
    await at.cache.fresh();
    expect(events).toEqual([`MODIFIED a blue @${first + 1}`, `DELETED a blue @${first + 2}`]);
  });

  test('W2: without a revision gets the state first, closed by a bookmark', async () => {
    await using at = await open();
    await at.put('b', 'red');
    const last = await at.put('a', 'red');
    await at.cache.fresh();
    const { events, sink } = recorder();
    beginWatch(at.cache, ALL, sink, { initialEventsEnd: true });
    await at.put('c', 'red');
    await at.cache.fresh();
    expect(events).toEqual([
      `ADDED a red @${last}`,
      `ADDED b red @${last - 1}`,
      `BOOKMARK @${last} end of state`,
      `ADDED c red @${last + 1}`,
    ]);
  });

  test('W2: gets the state of the moment it began, however late it takes it', async () => {
    await using at = await open();
    for (let i = 0; i < 600; i++) await at.put(`a-${String(i).padStart(3, '0')}`, 'red');
    await at.cache.start();
    const { events, sink } = recorder();
    const watch = at.cache.watch(ALL, sink, { initialEventsEnd: true })!;
    const revision = at.cache.revision;
    const state: string[] = [];
    for (const { object } of watch.backlog) {
      if (state.length === 300) await at.remove('a-500');
      state.push(object.object.metadata.name);
    }
    expect([state.length, new Set(state).size, watch.initialEventsEnd]).toEqual([600, 600, revision]);
    expect(state.toSorted()).toEqual(state);
    expect(events).toEqual([`DELETED a-500 red @${revision + 1}`]);
  });

  test('W3: is refused after a revision whose successors are forgotten', async () => {
    await using at = await open();
    const first = await at.put('a', 'red');
    await at.put('a', 'blue');
    await at.cache.start();
    const { events, sink } = recorder();
    expect(beginWatch(at.cache, ALL, sink, { since: first })).toBeUndefined();
    for (let i = 0; i < 1100; i++) await at.put('a', `colour ${i}`);
    await at.cache.fresh();
    expect(beginWatch(at.cache, ALL, sink, { since: first + 2 })).toBeUndefined();
    expect(events).toEqual([]);
    expect(beginWatch(at.cache, ALL, sink, { since: at.cache.oldestRevision })).toBeDefined();
    expect(events).toHaveLength(1024);
  });

  test.each(['a plain filter', 'the indexed field'])('W4, W5, W7: by %s sees objects come and go', async (kind) => {
    await using at = await open();
    await at.cache.start();
    const { events, sink } = recorder();
    beginWatch(at.cache, kind === 'a plain filter' ? only('red') : { ...only('red'), trigger: 'red' }, sink, { since: at.cache.revision });
    const first = await at.put('a', 'red');
    await at.put('b', 'blue');
    await at.put('a', 'blue');
    await at.put('b', 'red');
    await at.put('b', 'red');
    await at.remove('a');
    await at.remove('b');
    await at.cache.fresh();
    expect(events).toEqual([
      `ADDED a red @${first}`,
      `DELETED a red @${first + 2}`,
      `ADDED b red @${first + 3}`,
      `MODIFIED b red @${first + 4}`,
      `DELETED b red @${first + 6}`,
    ]);
  });

  test('W6: shares its frames with those who see the same', async () => {
    await using at = await open();
    await at.cache.start();
    const [first, second, red] = [recorder(), recorder(), recorder()];
    for (const { sink } of [first, second]) beginWatch(at.cache, ALL, sink, { since: at.cache.revision });
    beginWatch(at.cache, only('red'), red.sink, { since: at.cache.revision });
    await at.put('a', 'red');
    await at.cache.fresh();
    expect(first.frames[0]).toBeDefined();
    expect(second.frames[0]).toBe(first.frames[0]);
    expect(red.frames[0]).toBe(first.frames[0]);
  });

  test('W8: that was left hears nothing more, and others do', async () => {
    await using at = await open();
    await at.cache.start();
    const [leaving, stays] = [recorder(), recorder()];
    const leave = beginWatch(at.cache, ALL, leaving.sink, { since: at.cache.revision });
    beginWatch(at.cache, ALL, stays.sink, { since: at.cache.revision });
    leave?.stop();
    await at.put('a', 'red');
    await at.cache.fresh();
    expect(leaving.events).toEqual([]);
    expect(stays.events).toHaveLength(1);
  });
});

/** Watches that can be broken, one after the other. */
function breakable(breaks: (() => void)[]): (store: Store) => Store['watch'] {
  return (store) => (options, sink) => {
    const handle = store.watch(options, sink);
    breaks.push(() => {
      handle.cancel();
      sink.end({ code: 'compacted', compactRevision: 1 });
    });
    return handle;
  };
}

function raise(): never {
  throw new Error('a fault in a sink');
}

describe('the end of a watch', () => {
  test('E1: comes when the watch on the store breaks; then the resource is read again', async () => {
    const breaks: (() => void)[] = [];
    await using at = await open(breakable(breaks));
    await at.cache.start();
    const { events, sink } = recorder();
    beginWatch(at.cache, ALL, sink, { since: at.cache.revision });
    const revision = await at.put('a', 'red');
    await at.cache.fresh();
    breaks[0]?.();
    await at.put('b', 'red');
    await at.cache.fresh();
    expect(events).toEqual([`ADDED a red @${revision}`, 'END expired']);
    expect(names(at.cache.objects())).toEqual(['a', 'b']);
  });

  test('E3: is followed by the changes that were missed, for who follows the cache', async () => {
    const breaks: (() => void)[] = [];
    await using at = await open(breakable(breaks));
    await at.put('kept', 'red');
    await at.put('gone', 'red');
    await at.put('changed', 'red');
    const versions = new Map<string, string>();
    const events: string[] = [];
    await at.cache.follow({
      put: (key, object) => {
        events.push(`put ${object.metadata.name}`);
        versions.set(key, colourOf(object));
      },
      remove: (key) => {
        events.push(`remove ${key.slice(PREFIX.length)}`);
        versions.delete(key);
      },
    });
    events.length = 0;
    breaks[0]?.();
    await at.remove('gone');
    await at.put('changed', 'blue');
    await at.put('new', 'blue');
    await at.cache.fresh();
    expect(events.toSorted()).toEqual(['put changed', 'put new', 'remove gone']);
    await at.put('later', 'green');
    expect(Object.fromEntries(versions)).toEqual({
      [`${PREFIX}kept`]: 'red',
      [`${PREFIX}changed`]: 'blue',
      [`${PREFIX}new`]: 'blue',
      [`${PREFIX}later`]: 'green',
    });
  });

  test('E4: is for its sink alone when the sink throws', async () => {
    await using at = await open();
    await at.cache.start();
    const { events, sink } = recorder();
    const failing = recorder();
    beginWatch(at.cache, ALL, { ...failing.sink, frame: () => raise() }, { since: at.cache.revision });
    beginWatch(at.cache, ALL, sink, { since: at.cache.revision });
    const revision = await at.put('a', 'red');
    expect([failing.events, events]).toEqual([['END expired'], [`ADDED a red @${revision}`]]);
    expect(at.cache.isStarted).toBe(true);
  });

  test('E5: leaves nothing served until the resource could be read, which is tried again and again, ever more slowly', async () => {
    const breaks: (() => void)[] = [];
    let fails = false;
    let reads = 0;
    const watch = breakable(breaks);
    await using at = await open((store) => {
      const range = store.range.bind(store);
      store.range = (...request) => {
        reads++;
        return fails ? Promise.reject(new Error('out of reach')) : range(...request);
      };
      return watch(store);
    });
    await at.cache.start();
    fails = true;
    breaks[0]?.();
    await at.put('a', 'red');
    await at.clock.advance(1);
    await expect(at.cache.fresh()).rejects.toThrow('storage is (re)initializing');
    const { events, sink } = recorder();
    expect(beginWatch(at.cache, ALL, sink, {})).toBeUndefined();
    await at.clock.advance(60_000);
    // At 0, 0.1, 0.3, 0.7, … 25.5, 51.1 s, and one before the break.
    expect(reads).toBe(11);
    fails = false;
    await at.clock.advance(30_000);
    expect([at.cache.isStarted, names(at.cache.objects()), events]).toEqual([true, ['a'], []]);
  });

  test('E6: comes not in a tight loop when the watch breaks as soon as it begins', async () => {
    let watches = 0;
    let fails = false;
    await using at = await open((store) => (options, sink) => {
      watches++;
      if (fails || watches === 1) queueMicrotask(() => sink.end({ code: 'failed', error: new Error('no watch') }));
      if (watches === 1) fails = true;
      return store.watch(options, { ...sink, events: () => {}, progress: () => {} });
    });
    await at.cache.start().catch(() => {});
    await at.clock.advance(60_000);
    expect([at.cache.isStarted, watches < 15]).toEqual([false, true]);
  });

  test('E2: comes with the end of the cache, also for who comes later', async () => {
    await using at = await open();
    await at.cache.start();
    const [early, late] = [recorder(), recorder()];
    beginWatch(at.cache, ALL, early.sink, { since: at.cache.revision });
    at.cache.close();
    beginWatch(at.cache, ALL, late.sink, { since: at.cache.revision });
    expect([early.events, late.events]).toEqual([['END closed'], ['END closed']]);
  });
});
