/** The maximum backlog of a slow subscriber. */
const MAX_BEHIND = 100_000;

interface Reader<T> {
  readonly events: T[];
  wake: (() => void) | undefined;
}

export class EventStream<T> {
  readonly #readers = new Set<Reader<T>>();

  publish(event: T): void {
    for (const reader of this.#readers) {
      if (reader.events.length < MAX_BEHIND) reader.events.push(event);
      reader.wake?.();
    }
  }

  /** Delivers events from now on, not from the first iteration. */
  subscribe(signal: AbortSignal | undefined): AsyncIterable<T> {
    const reader: Reader<T> = { events: [], wake: undefined };
    this.#readers.add(reader);
    return this.#read(reader, signal);
  }

  async *#read(reader: Reader<T>, signal: AbortSignal | undefined): AsyncIterable<T> {
    const wake = () => reader.wake?.();
    signal?.addEventListener('abort', wake);
    try {
      while (!signal?.aborted) {
        yield* reader.events.splice(0);
        if (signal?.aborted) return;
        if (reader.events.length === 0) await nextWake(reader);
      }
    } finally {
      signal?.removeEventListener('abort', wake);
      this.#readers.delete(reader);
    }
  }
}

async function nextWake<T>(reader: Reader<T>): Promise<void> {
  await new Promise<void>((resolve) => {
    reader.wake = resolve;
  });
  reader.wake = undefined;
}
