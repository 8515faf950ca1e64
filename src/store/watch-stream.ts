import { onAbort } from '#base';
import type { Store, WatchEnd, WatchEvent, WatchHandle, WatchOptions, WatchSink } from './store.ts';

export type WatchItem =
  | { readonly type: 'events'; readonly events: readonly WatchEvent[]; readonly revision: number }
  | { readonly type: 'progress'; readonly revision: number }
  /** Always the last item. */
  | { readonly type: 'end'; readonly reason: WatchEnd };

export interface WatchStreamOptions extends WatchOptions {
  readonly signal?: AbortSignal;
  /** Events that may wait for the consumer before the watch is ended as `slow`. Default 10,000. */
  readonly maxBufferedEvents?: number;
}

export interface WatchStream extends AsyncIterableIterator<WatchItem>, AsyncDisposable {}

const DEFAULT_MAX_BUFFERED_EVENTS = 10_000;

/**
 * A watch as an async iterable, at the consumer's pace. It begins at once, not with the first iteration. What the consumer has not read
 * waits, up to the bound; then it gets what waited and `end` with `slow`. An aborted signal throws its reason.
 */
export function watchStream(store: Store, options: WatchStreamOptions): WatchStream {
  options.signal?.throwIfAborted();
  return new BufferedWatch(store, options);
}

class BufferedWatch implements WatchStream, WatchSink {
  readonly #signal: AbortSignal | undefined;
  readonly #maxBufferedEvents: number;
  readonly #waiting: WatchItem[] = [];
  readonly #handle: WatchHandle;
  readonly #aborted: Disposable;
  #bufferedEvents = 0;
  #finished = false;
  #wake = () => {};

  constructor(store: Store, { signal, maxBufferedEvents = DEFAULT_MAX_BUFFERED_EVENTS, ...watch }: WatchStreamOptions) {
    this.#signal = signal;
    this.#maxBufferedEvents = maxBufferedEvents;
    this.#handle = store.watch(watch, this);
    this.#aborted = onAbort(signal, () => this.#stop());
  }

  events(events: readonly WatchEvent[], revision: number): void {
    // One batch is always accepted, whatever its size: a transaction is never split.
    if (this.#bufferedEvents > 0 && this.#bufferedEvents + events.length > this.#maxBufferedEvents) {
      this.end({ code: 'slow' });
      return;
    }
    this.#bufferedEvents += events.length;
    this.#add({ type: 'events', events, revision });
  }

  progress(revision: number): void {
    if (this.#waiting[this.#waiting.length - 1]?.type === 'progress') this.#waiting.pop();
    this.#add({ type: 'progress', revision });
  }

  end(reason: WatchEnd): void {
    this.#add({ type: 'end', reason });
    this.#stop();
  }

  async next(): Promise<IteratorResult<WatchItem>> {
    while (this.#waiting.length === 0 && !this.#finished) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#signal?.throwIfAborted();
    const item = this.#waiting.shift();
    if (item === undefined) return { done: true, value: undefined };
    if (item.type === 'events') this.#bufferedEvents -= item.events.length;
    return { done: false, value: item };
  }

  async return(): Promise<IteratorResult<WatchItem>> {
    this.#waiting.length = 0;
    this.#stop();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #add(item: WatchItem): void {
    this.#waiting.push(item);
    this.#wake();
  }

  #stop(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#handle.cancel();
    this.#aborted[Symbol.dispose]();
    this.#wake();
  }
}
