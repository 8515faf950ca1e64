import type { StatusError } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { CachedObject } from './cached-object.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

/** A change, as all watchers that see it alike share it. Encodings are attached by who first needs one. */
export interface WatchFrame {
  readonly type: EventType;
  readonly object: CachedObject;
  /** Encoded frames by media type and version; filled by transports. */
  readonly encodings: Map<unknown, Buffer>;
}

/** Most are for watchers of this process, who need no bytes. */
class Frame implements WatchFrame {
  #encodings: Map<unknown, Buffer> | undefined;

  constructor(
    readonly type: EventType,
    readonly object: CachedObject,
  ) {}

  get encodings(): Map<unknown, Buffer> {
    this.#encodings ??= new Map();
    return this.#encodings;
  }
}

/** For an object that was there before the watch. */
export function initialFrame(object: CachedObject): WatchFrame {
  return new Frame('ADDED', object);
}

export interface WatchSink {
  frame(frame: WatchFrame): void;
  /** Every change up to this revision has been delivered. `initialEventsEnd` closes the state that was asked for first. */
  bookmark(revision: number, initialEventsEnd: boolean): void;
  /** The watch cannot go on; nothing follows. */
  error(error: StatusError): void;
  /** Nothing follows. */
  end(reason: WatchEndReason): void;
}

export type WatchEndReason = 'expired' | 'slow' | 'closed';

/** One state change of one key, as it came from the store. */
export class CacheEvent {
  /** One for each way to see the event, of which there are two at most. */
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

  /** Scopes that see the event alike share its frame, and with it the encoded bytes. */
  frame(type: EventType, object: CachedObject): WatchFrame {
    for (const frame of this.#frames) if (frame.type === type) return frame;
    const frame = new Frame(type, object);
    this.#frames = [...this.#frames, frame];
    return frame;
  }
}

const NO_FRAMES: readonly WatchFrame[] = [];

/** What a watcher wants to see. Watchers with equal keys share one evaluation of each event. */
export interface WatchFilter {
  readonly key: string;
  /** Key prefix: a namespace, or everything. */
  readonly prefix: string;
  readonly matches: ((object: KubeObject) => boolean) | undefined;
  /** An exact requirement on the resource's indexed field: only events with this value concern the watcher. */
  readonly trigger?: string | undefined;
}

/** Watchers with the same filter. */
export class WatchScope {
  readonly sinks = new Set<WatchSink>();

  constructor(readonly filter: WatchFilter) {}

  deliver(event: CacheEvent): void {
    const frame = this.frameFor(event);
    if (frame === undefined) return;
    for (const sink of this.sinks) sink.frame(frame);
  }

  /** The event as this filter sees it: an object that begins to match is added, one that no longer does is deleted. */
  frameFor(event: CacheEvent): WatchFrame | undefined {
    const { prefix, matches } = this.filter;
    if (!event.object.key.startsWith(prefix)) return undefined;
    const now = !event.deleted && (matches === undefined || matches(event.object.object));
    const before = event.previous !== undefined && (matches === undefined || matches(event.previous.object));
    if (now) return event.frame(before ? 'MODIFIED' : 'ADDED', event.object);
    if (!before) return undefined;
    return event.frame('DELETED', event.deleted ? event.object : event.previous.at(event.revision));
  }
}
