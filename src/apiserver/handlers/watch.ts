import type { ApiResponse } from '../request/api-response.ts';
import type { WatchSink } from '../watch-cache/watcher.ts';
import { convertingSink } from './converting-sink.ts';
import type { ListOptions } from './list-options.ts';
import type { ResourceCall } from './resource-call.ts';
import { expiredResourceVersion, parseResourceVersion } from './resource-version.ts';
import { selectionOf, watchFilter } from './selection.ts';

/** Watches without a time limit of their own end after a time between these, so that load spreads over servers. */
const MIN_TIMEOUT_MS = 1_800_000;

export async function handleWatch(call: ResourceCall): Promise<ApiResponse> {
  const { options: asked, selection } = selectionOf(call, true);
  const filter = watchFilter(call, selection);
  const { cache } = call.resource.storage!;
  await cache.fresh();
  const options = watchOptions(call, asked);
  return {
    type: 'watch',
    resource: call.resource,
    timeoutMs: options.timeoutMs,
    bookmarks: options.bookmarks,
    revision: () => cache.revision,
    open(sink: WatchSink) {
      const start = {
        ...(options.since !== undefined && { since: options.since }),
        initialEventsEnd: options.initialEvents && options.bookmarks,
      };
      const stop = cache.watch(filter, call.resource.remote === undefined ? sink : convertingSink(call.resource, sink), start);
      if (stop !== undefined) return stop;
      sink.error(expiredResourceVersion(options.since!, cache.oldestRevision));
      return () => {};
    },
  };
}

interface WatchOptions {
  /** Events after this revision; undefined for the current state first. */
  readonly since: number | undefined;
  readonly bookmarks: boolean;
  readonly initialEvents: boolean;
  readonly timeoutMs: number;
}

function watchOptions({ resource, deps }: ResourceCall, options: ListOptions): WatchOptions {
  const { timeoutSeconds: seconds = 0, sendInitialEvents: initialEvents = false } = options;
  const asked = parseResourceVersion(options.resourceVersion, initialEvents ? resource.storage!.cache.revision : Number.POSITIVE_INFINITY);
  return {
    since: initialEvents ? undefined : asked || resource.storage!.cache.revision,
    bookmarks: options.bookmarks,
    initialEvents,
    timeoutMs: seconds > 0 ? seconds * 1000 : (deps.minWatchTimeoutMs ?? MIN_TIMEOUT_MS) * (1 + deps.random.float()),
  };
}
