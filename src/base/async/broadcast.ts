import { Fifo } from '../queues/fifo.ts';
import { onAbort } from './abort.ts';

export interface SubscribeOptions {
  /** Ends the subscription: buffered values are dropped, and the iteration returns. */
  signal?: AbortSignal;
  /** The maximum number of buffered values. Default: no limit. */
  limit?: number;
  /** Beyond the limit the subscription fails with SlowSubscriberError (default), or drops its oldest value. */
  overflow?: 'fail' | 'drop-oldest';
}

/** A reader's position in a broadcast. Released when disposed, when its loop ends, or when its signal aborts. */
export interface Subscription<T> extends AsyncIterableIterator<T>, Disposable {
  /** The number of buffered values. */
  readonly buffered: number;
}

/** The reader exceeded its buffer limit; it has missed values and must restart from a known state. */
export class SlowSubscriberError extends Error {
  override readonly name = 'SlowSubscriberError';
}

interface Receiver<T> {
  receive(value: T): void;
  end(error?: unknown): void;
}

/** One writer and many readers, each of which receives every value published after it subscribed, in order. */
export class Broadcast<T> implements Disposable {
  readonly #receivers = new Set<Receiver<T>>();
  #closed = false;

  /** The number of open subscriptions and listeners. */
  get size(): number {
    return this.#receivers.size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  publish(value: T): void {
    if (this.#closed) throw new Error('cannot publish to a closed broadcast');
    for (const receiver of this.#receivers) receiver.receive(value);
  }

  /** Reads with `for await`. Values published between subscribing and reading are buffered. */
  subscribe(options: SubscribeOptions = {}): Subscription<T> {
    const subscription = new BufferedSubscription<T>(options, () => this.#receivers.delete(subscription));
    if (this.#closed) subscription.end();
    else if (!subscription.ended) this.#receivers.add(subscription);
    return subscription;
  }

  /** Calls `listener` synchronously with each value. An error of one listener reaches the publisher. */
  listen(listener: (value: T) => void, signal?: AbortSignal): Disposable {
    const receiver: Receiver<T> = { receive: listener, end: () => registration[Symbol.dispose]() };
    const stop = () => void this.#receivers.delete(receiver);
    if (!this.#closed && !signal?.aborted) this.#receivers.add(receiver);
    const registration = onAbort(signal, stop);
    return {
      [Symbol.dispose]() {
        stop();
        registration[Symbol.dispose]();
      },
    };
  }

  /** Readers receive their buffered values, then the end, or `error`. */
  close(error?: unknown): void {
    this.#closed = true;
    for (const receiver of this.#receivers) receiver.end(error);
    this.#receivers.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

interface Reader<T> {
  resolve(result: IteratorResult<T>): void;
  reject(error: unknown): void;
}

class BufferedSubscription<T> implements Subscription<T>, Receiver<T> {
  readonly #values = new Fifo<T>();
  readonly #readers = new Fifo<Reader<T>>();
  readonly #limit: number;
  readonly #overflow: 'fail' | 'drop-oldest';
  readonly #unregister: () => void;
  readonly #abortRegistration: Disposable;
  #ended = false;
  #failure: { error: unknown } | undefined;

  constructor(options: SubscribeOptions, unregister: () => void) {
    this.#limit = options.limit ?? Infinity;
    this.#overflow = options.overflow ?? 'fail';
    this.#unregister = unregister;
    if (options.signal?.aborted) this.#ended = true;
    this.#abortRegistration = onAbort(options.signal?.aborted ? undefined : options.signal, () => this[Symbol.dispose]());
  }

  get buffered(): number {
    return this.#values.size;
  }

  get ended(): boolean {
    return this.#ended;
  }

  receive(value: T): void {
    const reader = this.#readers.shift();
    if (reader) reader.resolve({ value, done: false });
    else this.#buffer(value);
  }

  #buffer(value: T): void {
    this.#values.push(value);
    if (this.#values.size <= this.#limit) return;
    if (this.#overflow === 'drop-oldest') this.#values.shift();
    else this.#failSlow();
  }

  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    if (error !== undefined) this.#failure = { error };
    this.#unsubscribe();
    for (let reader = this.#readers.shift(); reader; reader = this.#readers.shift()) this.#answerEnd(reader);
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#values.size > 0) return Promise.resolve({ value: this.#values.shift() as T, done: false });
    return new Promise((resolve, reject) => {
      if (this.#ended) this.#answerEnd({ resolve, reject });
      else this.#readers.push({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<T>> {
    this[Symbol.dispose]();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.dispose](): void {
    this.#values.clear();
    this.#failure = undefined;
    this.end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #failSlow(): void {
    this.#values.clear();
    this.end(new SlowSubscriberError(`more than ${this.#limit} values waited to be read`));
  }

  /** Throws the error once, then ends, as iterators do. */
  #answerEnd(reader: Reader<T>): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) reader.reject(failure.error);
    else reader.resolve({ value: undefined, done: true });
  }

  #unsubscribe(): void {
    this.#abortRegistration[Symbol.dispose]();
    this.#unregister();
  }
}
