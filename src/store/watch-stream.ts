import { onAbort } from '#base';
import type { Store, WatchEnd, WatchEvent, WatchOptions } from './store.ts';

export type WatchItem =
  | { readonly type: 'events'; readonly events: readonly WatchEvent[]; readonly revision: number }
  | { readonly type: 'progress'; readonly revision: number }
  /** Always the last one. */
  | { readonly type: 'end'; readonly reason: WatchEnd };

export interface WatchStreamOptions extends WatchOptions {
  readonly signal?: AbortSignal;
  /** Events that may wait for the consumer before the watch is ended as `slow`. Default 10,000. */
  readonly maxBufferedEvents?: number;
}

const DEFAULT_MAX_BUFFERED_EVENTS = 10_000;

/**
 * A watch as an async iterable, at the consumer's pace. It begins at once, not with the first iteration. What the consumer has not taken
 * waits, up to the bound; then it gets what waited and `end` with `slow`. An aborted signal throws its reason.
 */
export function watchStream(store: Store, options: WatchStreamOptions): AsyncIterableIterator<WatchItem> & AsyncDisposable {
  const { signal, maxBufferedEvents = DEFAULT_MAX_BUFFERED_EVENTS, ...watchOptions } = options;
  signal?.throwIfAborted();
  const waiting: WatchItem[] = [];
  let bufferedEvents = 0;
  let finished = false;
  let wake = () => {};

  const stop = () => {
    handle.cancel();
    aborted[Symbol.dispose]();
    finished = true;
    wake();
  };
  const add = (item: WatchItem) => {
    waiting.push(item);
    if (item.type === 'end') stop();
    else wake();
  };
  const handle = store.watch(watchOptions, {
    events(events, revision) {
      // One batch is always taken, however large: a transaction is never cut.
      if (bufferedEvents > 0 && bufferedEvents + events.length > maxBufferedEvents) return add({ type: 'end', reason: { code: 'slow' } });
      bufferedEvents += events.length;
      add({ type: 'events', events, revision });
    },
    progress(revision) {
      if (waiting[waiting.length - 1]?.type === 'progress') waiting.pop();
      add({ type: 'progress', revision });
    },
    end: (reason) => add({ type: 'end', reason }),
  });
  const aborted = onAbort(signal, stop);

  const take = async (): Promise<IteratorResult<WatchItem>> => {
    while (waiting.length === 0 && !finished) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    signal?.throwIfAborted();
    const item = waiting.shift();
    if (item === undefined) return { done: true, value: undefined };
    if (item.type === 'events') bufferedEvents -= item.events.length;
    return { done: false, value: item };
  };
  const finish = () => {
    waiting.length = 0;
    if (!finished) stop();
    return Promise.resolve({ done: true as const, value: undefined });
  };
  return {
    next: take,
    return: finish,
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => void (await finish()),
  };
}
