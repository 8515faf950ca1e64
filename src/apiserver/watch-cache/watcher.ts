import { StatusError } from '#machinery';
import type { CachedObject } from './cached-object.ts';
import type { KubeObject } from './kube-object.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

/** A change as seen by all watchers with the same view. Transports attach encodings. */
export interface WatchFrame {
  readonly type: EventType;
  readonly object: CachedObject;
  /** The state before the change, for filters with `keepsPrevious`. */
  readonly previous?: CachedObject | undefined;
  /** Encoded frames by media type and version; filled by transports. */
  readonly encodings: Map<unknown, Buffer>;
}

/** Encodings are created lazily: in-process watchers need none. */
class Frame implements WatchFrame {
  #encodings: Map<unknown, Buffer> | undefined;

  constructor(
    readonly type: EventType,
    readonly object: CachedObject,
    readonly previous?: CachedObject | undefined,
  ) {}

  get encodings(): Map<unknown, Buffer> {
    this.#encodings ??= new Map();
    return this.#encodings;
  }
}

/** For an object of the initial state. */
export function initialFrame(object: CachedObject): WatchFrame {
  return new Frame('ADDED', object);
}

export function newFrame(type: EventType, object: CachedObject, previous: CachedObject | undefined): WatchFrame {
  return new Frame(type, object, previous);
}

export interface WatchSink {
  frame(frame: WatchFrame): void;
  /** Every change up to this revision has been delivered. `initialEventsEnd` terminates the backlog. */
  bookmark(revision: number, initialEventsEnd: boolean): void;
  /** The watch failed; nothing follows. */
  error(error: StatusError): void;
  /** The watch ended; nothing follows. */
  end(reason: WatchEndReason): void;
}

/** An open watch: its sink receives every later change. */
export interface OpenWatch {
  /** The state, or the changes since a revision, generated lazily. */
  readonly backlog: Iterable<WatchFrame>;
  /** The same for watches whose backlogs are the same state; undefined for changes. */
  readonly stateId?: object | undefined;
  /** The revision of the initial state, if its end is marked by a bookmark. */
  readonly initialEventsEnd: number | undefined;
  stop(): void;
}

/** A watch without events. */
export const NO_WATCH: OpenWatch = { backlog: [], initialEventsEnd: undefined, stop: () => {} };

/** The error when the cache was reloaded. */
export function cacheReloadedError(): StatusError {
  return StatusError.expired('the server lost track of changes');
}

export type WatchEndReason = 'expired' | 'slow' | 'closed';

/** A change of one key. */
export class CacheEvent {
  /** One per view of the event, at most two. */
  #frames: readonly WatchFrame[] = NO_FRAMES;

  constructor(
    /** The state after the change; for a deletion the last state, under the deletion's revision. */
    readonly object: CachedObject,
    readonly previous: CachedObject | undefined,
    readonly deleted: boolean,
  ) {}

  get revision(): number {
    return this.object.revision;
  }

  /** Scopes with the same view share the frame and its encoded bytes. */
  frame(type: EventType, object: CachedObject): WatchFrame {
    for (const frame of this.#frames) if (frame.type === type) return frame;
    const frame = new Frame(type, object);
    this.#frames = [...this.#frames, frame];
    return frame;
  }
}

const NO_FRAMES: readonly WatchFrame[] = [];

/** A watcher's filter. Watchers with equal keys share its evaluation. */
export interface WatchFilter {
  readonly key: string;
  /** Key prefix: a namespace, or everything. */
  readonly prefix: string;
  readonly matches: ((object: KubeObject) => boolean) | undefined;
  /** An exact requirement on the resource's indexed field: only events with this value concern the watcher. */
  readonly trigger?: string | undefined;
  /** Frames carry the previous state, so that selectors can be applied after conversion. */
  readonly keepsPrevious?: boolean;
}

/** Watchers with the same filter. */
export class WatchScope {
  readonly sinks = new Set<WatchSink>();
  readonly #stateIds = new WeakMap<object, object>();

  constructor(readonly filter: WatchFilter) {}

  /** A placeholder for this scope's part of a snapshot. */
  stateId(snapshot: object): object {
    let id = this.#stateIds.get(snapshot);
    if (id === undefined) {
      id = {};
      this.#stateIds.set(snapshot, id);
    }
    return id;
  }

  /** The event as this filter sees it: an object that begins to match is added, one that no longer does is deleted. */
  frameFor(event: CacheEvent): WatchFrame | undefined {
    const { prefix, matches, keepsPrevious } = this.filter;
    if (!event.object.key.startsWith(prefix)) return undefined;
    if (keepsPrevious) return unselected(event);
    const now = !event.deleted && (matches === undefined || matches(event.object.object));
    const before = event.previous !== undefined && (matches === undefined || matches(event.previous.object));
    if (now) return event.frame(before ? 'MODIFIED' : 'ADDED', event.object);
    if (!before) return undefined;
    return event.frame('DELETED', event.deleted ? event.object : event.previous.at(event.revision));
  }
}

function unselected({ deleted, object, previous }: CacheEvent): WatchFrame {
  return newFrame(deleted ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED', object, previous);
}
