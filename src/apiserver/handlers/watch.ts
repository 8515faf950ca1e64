import { expiredResourceVersion, parseResourceVersion } from '../request/resource-version.ts';
import { cacheReloadedError, NO_WATCH, type WatchSink } from '../watch-cache/watcher.ts';
import type { ApiResponse } from './api-response.ts';
import type { ListOptions } from './list-options.ts';
import type { ResourceCall } from './resource-call.ts';
import { selectionOf, selectsConverted, watchFilter } from './selection.ts';

/** The random range of watch durations without timeoutSeconds, which balances load across servers. */
const MIN_TIMEOUT_MS = 1_800_000;

export async function handleWatch(call: ResourceCall): Promise<ApiResponse> {
  const { options: listOptions, selection } = selectionOf(call, true);
  const isConverted = selectsConverted(call.resource, selection);
  const filter = watchFilter(call, selection);
  const { cache } = call.resource.storage;
  await cache.fresh();
  const options = watchOptions(call, listOptions);
  return {
    type: 'watch',
    resource: call.resource,
    matchesConverted: isConverted ? selection.matches : undefined,
    timeoutMs: options.timeoutMs,
    bookmarks: options.bookmarks,
    revision: () => cache.revision,
    open(sink: WatchSink) {
      const start = {
        ...(options.since !== undefined && { since: options.since }),
        initialEventsEnd: options.initialEvents && options.bookmarks,
      };
      const watch = cache.watch(filter, sink, start);
      if (watch !== undefined) return watch;
      sink.error(options.since === undefined ? cacheReloadedError() : expiredResourceVersion(options.since, cache.oldestRevision));
      return NO_WATCH;
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
  const revision = parseResourceVersion(
    options.resourceVersion,
    initialEvents ? resource.storage.cache.revision : Number.POSITIVE_INFINITY,
  );
  return {
    since: initialEvents ? undefined : revision || resource.storage.cache.revision,
    bookmarks: options.bookmarks,
    initialEvents,
    timeoutMs: seconds > 0 ? seconds * 1000 : (deps.minWatchTimeoutMs ?? MIN_TIMEOUT_MS) * (1 + deps.random.float()),
  };
}
