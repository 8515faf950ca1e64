import { StatusError } from '#machinery';
import type { ServedResource } from '../registry/served-resource.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import type { WatchSink } from '../watch-cache/watcher.ts';

/** Delivers in the order of the changes, each as soon as its object is there in the version that is watched. */
export function convertingSink(resource: ServedResource, sink: WatchSink): WatchSink {
  let last: Promise<void> = Promise.resolve();
  let isOver = false;
  const next = (tell: () => Promise<void> | void) => {
    last = last
      .then(() => (isOver ? undefined : tell()))
      .catch((error: unknown) => {
        isOver = true;
        sink.error(StatusError.internalError(error));
      });
  };
  return {
    frame: (frame) =>
      next(async () => {
        await loadVersions(resource, [frame.object]);
        sink.frame(frame);
      }),
    bookmark: (revision, initialEventsEnd) => next(() => sink.bookmark(revision, initialEventsEnd)),
    error: (error) => next(() => sink.error(error)),
    end: (reason) => next(() => sink.end(reason)),
  };
}
