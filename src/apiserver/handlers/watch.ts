import { FieldError, Path, StatusError } from '#machinery';
import type { ApiResponse } from '../request/api-response.ts';
import type { WatchSink } from '../watch-cache/watcher.ts';
import type { ResourceCall } from './resource-call.ts';
import { expiredResourceVersion } from './resource-version.ts';
import { selectionOf, watchFilter } from './selection.ts';

/** Watches without a time limit of their own end after a time between these, so that load spreads over servers. */
const MIN_TIMEOUT_MS = 1_800_000;

export async function handleWatch(call: ResourceCall): Promise<ApiResponse> {
  const options = watchOptions(call);
  const filter = watchFilter(call, selectionOf(call));
  const { cache } = call.resource.storage!;
  await cache.fresh();
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
      const stop = cache.watch(filter, sink, start);
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

function watchOptions({ request, deps }: ResourceCall): WatchOptions {
  const { query } = request;
  const resourceVersion = query.get('resourceVersion') ?? '';
  const initialEvents = isTrue(query.get('sendInitialEvents'));
  refuseInvalid(query, resourceVersion);
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  return {
    since: initialEvents || resourceVersion === '' || resourceVersion === '0' ? undefined : Number(resourceVersion),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    initialEvents,
    timeoutMs: seconds > 0 ? seconds * 1000 : (deps.minWatchTimeoutMs ?? MIN_TIMEOUT_MS) * (1 + deps.random.float()),
  };
}

function isTrue(value: string | null): boolean {
  return value === 'true' || value === '1' || value === '';
}

function refuseInvalid(query: URLSearchParams, resourceVersion: string): void {
  const errors: FieldError[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const sends = query.has('sendInitialEvents');
  if (sends && match !== 'NotOlderThan') {
    errors.push(
      FieldError.forbidden(Path.of('resourceVersionMatch'), 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  }
  if (!sends && match !== '') {
    errors.push(
      FieldError.forbidden(
        Path.of('resourceVersionMatch'),
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (sends && query.get('allowWatchBookmarks') !== 'true' && isTrue(query.get('sendInitialEvents'))) {
    errors.push(
      FieldError.forbidden(
        Path.of('sendInitialEvents'),
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      ),
    );
  }
  if (resourceVersion !== '' && !/^\d+$/.test(resourceVersion)) {
    errors.push(
      FieldError.invalid(Path.of('resourceVersion'), resourceVersion, `strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`),
    );
  }
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
