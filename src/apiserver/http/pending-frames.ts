import type { Counter, Family, Logger, MetricsRegistry } from '#base';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { WatchFrame } from '../watch-cache/watcher.ts';

/** Why a slow watch was dropped. */
export type DropReason =
  /** Its pending changes exceed the limit per watcher. */
  | 'PendingLimit'
  /** The pending changes of all watchers exceed the limit, and this one has the most. */
  | 'ServerLimit'
  /** The client has not read pending data for some time. */
  | 'Stalled';

/** The limit for one watcher, in bytes of JSON. */
const WATCHER_BYTES = 16 * 1024 * 1024;
/** The limit for all watchers; a shared change counts once. */
const SERVER_BYTES = 128 * 1024 * 1024;

/** A watcher whose client is too slow. */
export interface SlowWatcher {
  readonly resource: ServedResource;
  /** Ends its watch and counts it. */
  drop(reason: DropReason): void;
}

interface HeldFrame {
  readonly bytes: number;
  watchers: number;
}

interface WatcherBacklog {
  bytes: number;
  readonly frames: WatchFrame[];
}

/** Pending changes of slow clients, shared and bounded. */
export class PendingFrames {
  readonly #frames = new Map<WatchFrame, HeldFrame>();
  readonly #slow = new Map<SlowWatcher, WatcherBacklog>();
  readonly #dropped: Family<Counter, 'group' | 'resource' | 'reason'>;
  readonly #logger: Logger;
  #bytes = 0;

  constructor(metrics: MetricsRegistry, logger: Logger) {
    this.#logger = logger;
    this.#dropped = metrics.counter({
      name: 'apiserver_terminated_watchers_total',
      help: 'Watches that were ended because their clients were too slow.',
      labels: ['group', 'resource', 'reason'],
    });
  }

  /** The total length of pending objects, each counted once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a pending frame. May drop this watcher or another. */
  hold(watcher: SlowWatcher, frame: WatchFrame): void {
    const entry = this.#frames.get(frame);
    const bytes = entry?.bytes ?? frame.object.jsonLength;
    if (entry === undefined) {
      this.#frames.set(frame, { bytes, watchers: 1 });
      this.#bytes += bytes;
    } else entry.watchers++;
    const waiting = this.#backlogOf(watcher);
    waiting.frames.push(frame);
    waiting.bytes += bytes;
    if (waiting.bytes > WATCHER_BYTES) watcher.drop('PendingLimit');
    else if (this.#bytes > SERVER_BYTES) this.#slowest().drop('ServerLimit');
  }

  #backlogOf(watcher: SlowWatcher): WatcherBacklog {
    let waiting = this.#slow.get(watcher);
    if (waiting === undefined) {
      waiting = { bytes: 0, frames: [] };
      this.#slow.set(watcher, waiting);
    }
    return waiting;
  }

  /** The watcher has no more pending changes. */
  release(watcher: SlowWatcher): void {
    for (const frame of this.#slow.get(watcher)?.frames ?? []) {
      const entry = this.#frames.get(frame)!;
      if (--entry.watchers > 0) continue;
      this.#frames.delete(frame);
      this.#bytes -= entry.bytes;
    }
    this.#slow.delete(watcher);
  }

  #slowest(): SlowWatcher {
    const [first, ...others] = this.#slow;
    return others.reduce((slowest, other) => (other[1].bytes > slowest[1].bytes ? other : slowest), first!)[0];
  }

  /** Counts and logs a watch that is ended. */
  count({ resource: { group, resource } }: SlowWatcher, reason: DropReason): void {
    this.#dropped.with({ group, resource, reason }).inc();
    this.#logger.warn('ended the watch of a client that does not read', { group, resource, reason });
  }
}
