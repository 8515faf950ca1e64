import { Fifo, onAbort } from '#base';
import type { WatchEventType, WatchSink } from './transport.ts';

export type WatchEvent<T> =
  | { readonly type: WatchEventType; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** Adapts a pushed watch to `for await`. It opens on the first read, and closes when the loop is left or the signal aborts. */
export function watchEvents<T>(open: (sink: WatchSink<T>) => Disposable, signal?: AbortSignal): AsyncIterable<WatchEvent<T>> {
  return { [Symbol.asyncIterator]: () => new WatchReader(open, signal) };
}

interface Reader<T> {
  resolve(result: IteratorResult<WatchEvent<T>>): void;
  reject(error: unknown): void;
}

class WatchReader<T> implements AsyncIterator<WatchEvent<T>>, WatchSink<T> {
  readonly #events = new Fifo<WatchEvent<T>>();
  readonly #aborted: Disposable;
  readonly #watch: Disposable | undefined;
  #reader: Reader<T> | undefined;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(open: (sink: WatchSink<T>) => Disposable, signal: AbortSignal | undefined) {
    this.#aborted = onAbort(signal, (reason) => this.error(reason));
    if (!this.#isOver) this.#watch = open(this);
    if (this.#isOver) this.#close();
  }

  event(type: WatchEventType, object: T): void {
    this.#push({ type, object });
  }

  bookmark(resourceVersion: string, initialEventsEnd: boolean): void {
    this.#push({ type: 'BOOKMARK', resourceVersion, initialEventsEnd });
  }

  error(error: unknown): void {
    if (this.#isOver) return;
    this.#failure = { error };
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#close();
    if (this.#reader) this.#finish(this.#reader);
  }

  next(): Promise<IteratorResult<WatchEvent<T>>> {
    const event = this.#events.shift();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    return new Promise((resolve, reject) => {
      if (this.#isOver) this.#finish({ resolve, reject });
      else this.#reader = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<WatchEvent<T>>> {
    this.#isOver = true;
    this.#events.clear();
    this.#close();
    return Promise.resolve({ value: undefined, done: true });
  }

  #push(event: WatchEvent<T>): void {
    if (this.#isOver) return;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) reader.resolve({ value: event, done: false });
    else this.#events.push(event);
  }

  /** The error is reported once, as iterators do. */
  #finish(reader: Reader<T>): void {
    this.#reader = undefined;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) reader.reject(failure.error);
    else reader.resolve({ value: undefined, done: true });
  }

  #close(): void {
    this.#aborted?.[Symbol.dispose]();
    this.#watch?.[Symbol.dispose]();
  }
}
