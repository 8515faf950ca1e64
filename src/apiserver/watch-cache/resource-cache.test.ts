import { describe, expect, test } from 'vitest';
import { silentLogger, VirtualClock } from '#base';
import { openMemoryStore, type Store } from '#store';
import type { KubeObject } from '../registry/kube-object.ts';
import { ObjectEncoding, StoredObject } from './object-encoding.ts';
import { ResourceCache } from './resource-cache.ts';
import type { WatchFilter, WatchFrame, WatchSink } from './watcher.ts';

const PREFIX = '/registry/things/';

const ENCODING = new ObjectEncoding('Thing', 'example.com/v1');

const colourOf = (object: KubeObject) => (object as unknown as { colour: string }).colour;

async function open(follow: (store: Store) => Store['watch'] = (store) => store.watch.bind(store)) {
  const store = openMemoryStore({ clock: new VirtualClock() });
  const cache = new ResourceCache({
    store: followedBy(store, follow(store)),
    prefix: PREFIX,
    encoding: ENCODING,
    logger: silentLogger,
    trigger: colourOf,
  });
  const write = async (write: Parameters<typeof store.txn>[0]['write']) => {
    const result = await store.txn({ write });
    return result.revision;
  };
  return {
    store,
    cache,
    put: (name: string, colour: string) =>
      write([
        {
          type: 'put',
          key: `${PREFIX}${name}`,
          value: ENCODING.encodeStored({ metadata: { name }, colour } as unknown as KubeObject).bytes,
        },
      ]),
    remove: (name: string) => write([{ type: 'delete', key: `${PREFIX}${name}` }]),
    async [Symbol.asyncDispose]() {
      cache.close();
      await store.close();
    },
  };
}

/** The store with another way to watch it. */
function followedBy(store: Store, watch: Store['watch']): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'watch') return watch;
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const ALL: WatchFilter = { key: 'all', prefix: PREFIX, matches: undefined };
const only = (colour: string): WatchFilter => ({ key: colour, prefix: PREFIX, matches: (object) => colourOf(object) === colour });

/** A watcher that remembers: `ADDED a red @3`. */
function recorder() {
  const heard: string[] = [];
  const frames: WatchFrame[] = [];
  const sink: WatchSink = {
    frame: (frame) => {
      frames.push(frame);
      const { object, revision } = frame.object;
      heard.push(`${frame.type} ${object.metadata.name} ${colourOf(object)} @${revision}`);
    },
    bookmark: (revision, initialEventsEnd) => void heard.push(`BOOKMARK @${revision}${initialEventsEnd ? ' end of state' : ''}`),
    error: (error) => void heard.push(`ERROR ${error.message}`),
    end: (reason) => void heard.push(`END ${reason}`),
  };
  return { heard, frames, sink };
}

const names = (objects: Iterable<{ object: KubeObject }>) => [...objects].map(({ object }) => object.metadata.name);

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
    const options = { store: counted, prefix: PREFIX, encoding: ENCODING, logger: silentLogger };
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

test('an object that was written here is known as it is, and encoded only for those who want its bytes', async () => {
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
    const { heard, sink } = recorder();
    at.cache.watch(ALL, sink, { since: first });
    await at.remove('a');
    await at.cache.fresh();
    expect(heard).toEqual([`MODIFIED a blue @${first + 1}`, `DELETED a blue @${first + 2}`]);
  });

  test('W2: without a revision gets the state first, closed by a bookmark', async () => {
    await using at = await open();
    await at.put('b', 'red');
    const last = await at.put('a', 'red');
    await at.cache.fresh();
    const { heard, sink } = recorder();
    at.cache.watch(ALL, sink, { initialEventsEnd: true });
    await at.put('c', 'red');
    await at.cache.fresh();
    expect(heard).toEqual([
      `ADDED a red @${last}`,
      `ADDED b red @${last - 1}`,
      `BOOKMARK @${last} end of state`,
      `ADDED c red @${last + 1}`,
    ]);
  });

  test('W3: is refused after a revision whose successors are forgotten', async () => {
    await using at = await open();
    const first = await at.put('a', 'red');
    await at.put('a', 'blue');
    await at.cache.start();
    const { heard, sink } = recorder();
    expect(at.cache.watch(ALL, sink, { since: first })).toBeUndefined();
    for (let i = 0; i < 1100; i++) await at.put('a', `colour ${i}`);
    await at.cache.fresh();
    expect(at.cache.watch(ALL, sink, { since: first + 2 })).toBeUndefined();
    expect(heard).toEqual([]);
    expect(at.cache.watch(ALL, sink, { since: at.cache.oldestRevision })).toBeDefined();
    expect(heard).toHaveLength(1024);
  });

  test.each(['a plain filter', 'the indexed field'])('W4, W5, W7: by %s sees objects come and go', async (kind) => {
    await using at = await open();
    await at.cache.start();
    const { heard, sink } = recorder();
    at.cache.watch(kind === 'a plain filter' ? only('red') : { ...only('red'), trigger: 'red' }, sink, { since: at.cache.revision });
    const first = await at.put('a', 'red');
    await at.put('b', 'blue');
    await at.put('a', 'blue');
    await at.put('b', 'red');
    await at.put('b', 'red');
    await at.remove('a');
    await at.remove('b');
    await at.cache.fresh();
    expect(heard).toEqual([
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
    const [one, other, red] = [recorder(), recorder(), recorder()];
    for (const { sink } of [one, other]) at.cache.watch(ALL, sink, { since: at.cache.revision });
    at.cache.watch(only('red'), red.sink, { since: at.cache.revision });
    await at.put('a', 'red');
    await at.cache.fresh();
    expect(one.frames[0]).toBeDefined();
    expect(other.frames[0]).toBe(one.frames[0]);
    expect(red.frames[0]).toBe(one.frames[0]);
  });

  test('W8: that was left hears nothing more, and others do', async () => {
    await using at = await open();
    await at.cache.start();
    const [gone, stays] = [recorder(), recorder()];
    const leave = at.cache.watch(ALL, gone.sink, { since: at.cache.revision });
    at.cache.watch(ALL, stays.sink, { since: at.cache.revision });
    leave?.();
    await at.put('a', 'red');
    await at.cache.fresh();
    expect(gone.heard).toEqual([]);
    expect(stays.heard).toHaveLength(1);
  });
});

describe('the end of a watch', () => {
  test('E1: comes when the watch on the store breaks; then the resource is read again', async () => {
    const breaks: (() => void)[] = [];
    await using at = await open((store) => (options, sink) => {
      const handle = store.watch(options, sink);
      breaks.push(() => {
        handle.cancel();
        sink.end({ code: 'compacted', compactRevision: 1 });
      });
      return handle;
    });
    await at.cache.start();
    const { heard, sink } = recorder();
    at.cache.watch(ALL, sink, { since: at.cache.revision });
    const revision = await at.put('a', 'red');
    await at.cache.fresh();
    breaks[0]?.();
    await at.put('b', 'red');
    await at.cache.fresh();
    expect(heard).toEqual([`ADDED a red @${revision}`, 'END expired']);
    expect(names(at.cache.objects())).toEqual(['a', 'b']);
  });

  test('E2: comes with the end of the cache, also for who comes later', async () => {
    await using at = await open();
    await at.cache.start();
    const [early, late] = [recorder(), recorder()];
    at.cache.watch(ALL, early.sink, { since: at.cache.revision });
    at.cache.close();
    at.cache.watch(ALL, late.sink, { since: at.cache.revision });
    expect([early.heard, late.heard]).toEqual([['END closed'], ['END closed']]);
  });
});
