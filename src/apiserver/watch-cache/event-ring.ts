import type { CacheEvent } from './watcher.ts';

/** How many past events a new watcher can start from. */
const CAPACITY = 1024;

/** The last events of a resource, for watches from a past revision. */
export class EventRing {
  /** Oldest first; the first `#head` slots are spent. */
  #events: CacheEvent[] = [];
  #head = 0;
  #start = 0;

  /** The revision after which all events are available. */
  get start(): number {
    return this.#start;
  }

  push(event: CacheEvent): void {
    this.#events.push(event);
    if (this.#events.length - this.#head <= CAPACITY) return;
    this.#start = this.#events[this.#head]!.revision;
    this.#events[this.#head++] = undefined as never;
    if (this.#head < CAPACITY) return;
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
  }

  /** Drops all events: the state at `revision` is known, but not its history. */
  restart(revision: number): void {
    this.#events = [];
    this.#head = 0;
    this.#start = revision;
  }

  *after(revision: number): Iterable<CacheEvent> {
    for (let i = this.#head; i < this.#events.length; i++) {
      const event = this.#events[i]!;
      if (event.revision > revision) yield event;
    }
  }
}
