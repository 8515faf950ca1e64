import { silentLogger, VirtualClock } from '#base';
import { openMemoryStore, type Store } from '#store';
import type { KubeObject } from './kube-object.ts';
import { ObjectEncoding } from './object-encoding.ts';
import { ResourceCache } from './resource-cache.ts';
import type { WatchFilter, WatchFrame, WatchSink } from './watcher.ts';
export const PREFIX = '/registry/things/';

export const ENCODING = new ObjectEncoding('Thing', 'example.com/v1');

export const colourOf = (object: KubeObject) => (object as unknown as { colour: string }).colour;

export async function open(follow: (store: Store) => Store['watch'] = (store) => store.watch.bind(store)) {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  const cache = new ResourceCache({
    clock,
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
    clock,
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
export function followedBy(store: Store, watch: Store['watch']): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'watch') return watch;
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export const ALL: WatchFilter = { key: 'all', prefix: PREFIX, matches: undefined };
export const only = (colour: string): WatchFilter => ({ key: colour, prefix: PREFIX, matches: (object) => colourOf(object) === colour });

/** A watcher that remembers: `ADDED a red @3`. */
export function recorder() {
  const events: string[] = [];
  const frames: WatchFrame[] = [];
  const sink: WatchSink = {
    frame: (frame) => {
      frames.push(frame);
      const { object, revision } = frame.object;
      events.push(`${frame.type} ${object.metadata.name} ${colourOf(object)} @${revision}`);
    },
    bookmark: (revision, initialEventsEnd) => void events.push(`BOOKMARK @${revision}${initialEventsEnd ? ' end of state' : ''}`),
    error: (error) => void events.push(`ERROR ${error.message}`),
    end: (reason) => void events.push(`END ${reason}`),
  };
  return { events, frames, sink };
}

/** Takes the backlog at once. */
export function beginWatch(
  cache: ResourceCache,
  filter: WatchFilter,
  sink: WatchSink,
  start: { since?: number; initialEventsEnd?: boolean },
) {
  const watch = cache.watch(filter, sink, start);
  for (const frame of watch?.backlog ?? []) sink.frame(frame);
  if (watch?.initialEventsEnd !== undefined) sink.bookmark(watch.initialEventsEnd, true);
  return watch;
}

export const names = (objects: Iterable<{ object: KubeObject }>) => [...objects].map(({ object }) => object.metadata.name);
