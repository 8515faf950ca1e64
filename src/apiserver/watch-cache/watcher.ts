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

/** An object that was there before the watch. Most are for watchers of this process, who need no bytes. */
export class InitialFrame implements WatchFrame {
  readonly type = 'ADDED';
  #encodings: Map<unknown, Buffer> | undefined;

  constructor(readonly object: CachedObject) {}

  get encodings(): Map<unknown, Buffer> {
    this.#encodings ??= new Map();
    return this.#encodings;
  }
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
export interface CacheEvent {
  readonly revision: number;
  /** The state after the change; for a deletion the last state, under the deletion's revision. */
  readonly object: CachedObject;
  readonly previous: CachedObject | undefined;
  readonly deleted: boolean;
  /** Scopes that see the event alike share its frame, and with it the encoded bytes. */
  readonly frames: Map<EventType, WatchFrame>;
}

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
    if (now) return frameOf(before ? 'MODIFIED' : 'ADDED', event.object, event);
    if (!before) return undefined;
    return frameOf('DELETED', event.deleted ? event.object : event.previous.at(event.revision), event);
  }
}

function frameOf(type: EventType, object: CachedObject, event: CacheEvent): WatchFrame {
  let frame = event.frames.get(type);
  if (frame === undefined) {
    frame = { type, object, encodings: new Map() };
    event.frames.set(type, frame);
  }
  return frame;
}
