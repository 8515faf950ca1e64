import { type Clock, type Counter, type Family, type MetricsRegistry, realClock } from '#base';
import type { ServedResource } from '../registry/generic/served-resource.ts';

/** Frames within this interval are sent in one write; the first one after a pause is sent immediately. */
const PAUSE_MS = 5;

/**
 * Batches writes to the watchers of one resource. Encrypting and sending costs more per write than per byte, so in a burst
 * each watcher gets several changes at a time; and since watchers mostly get the same ones, they are joined once for all.
 */
export class WatchFlush {
  // Real time: peers are outside of the cluster's (possibly virtual) time.
  readonly #clock: Clock = realClock;
  #due: (() => void)[] = [];
  #rested = Number.NEGATIVE_INFINITY;
  #parts: readonly Buffer[] = [];
  #joined: Buffer | undefined;

  constructor(
    /** Counts sent events. */
    readonly events?: Counter,
  ) {}

  /** Schedules `flush` once. */
  schedule(flush: () => void): void {
    this.#due.push(flush);
    if (this.#due.length > 1) return;
    const wait = this.#rested + PAUSE_MS - this.#clock.monotonic();
    if (wait <= 0) queueMicrotask(() => this.#flush());
    else this.#clock.setTimer(wait, () => this.#flush());
  }

  #flush(): void {
    const due = this.#due;
    this.#due = [];
    for (const flush of due) flush();
    this.#parts = [];
    this.#joined = undefined;
    this.#rested = this.#clock.monotonic();
  }

  join(parts: readonly Buffer[]): Buffer {
    if (parts.length === 1) return parts[0]!;
    if (this.#joined === undefined || !areSame(parts, this.#parts)) {
      this.#parts = parts;
      this.#joined = Buffer.concat(parts);
    }
    return this.#joined;
  }
}

/** One per resource: a burst of one does not delay others. */
export class WatchFlushes {
  readonly #flushes = new WeakMap<ServedResource, WatchFlush>();
  readonly #events: Family<Counter, 'group' | 'version' | 'resource'>;

  constructor(metrics: MetricsRegistry) {
    this.#events = metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events that were sent to watchers.',
      labels: ['group', 'version', 'resource'],
    });
  }

  of(resource: ServedResource): WatchFlush {
    let flush = this.#flushes.get(resource);
    if (flush === undefined) {
      const { group, version, resource: name } = resource;
      flush = new WatchFlush(this.#events.with({ group, version, resource: name }));
      this.#flushes.set(resource, flush);
    }
    return flush;
  }
}

function areSame(a: readonly Buffer[], b: readonly Buffer[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
