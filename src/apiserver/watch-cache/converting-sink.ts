import { StatusError } from '#machinery';
import { loadVersions } from './load-versions.ts';
import type { ObjectVersion } from './object-version.ts';
import { type ObjectPredicate, objectsOfFrame, selectConverted } from './select-converted.ts';
import type { WatchSink } from './watcher.ts';

/** Converts objects to the watched version before they are delivered, in order. `matches` selects among the converted objects. */
export function convertingSink(resource: ObjectVersion, sink: WatchSink, matches?: ObjectPredicate): WatchSink {
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
        await loadVersions(resource, objectsOfFrame(frame));
        const selected = matches === undefined ? frame : selectConverted(frame, resource, matches);
        if (selected !== undefined) sink.frame(selected);
      }),
    bookmark: (revision, initialEventsEnd) => next(() => sink.bookmark(revision, initialEventsEnd)),
    error: (error) => next(() => sink.error(error)),
    end: (reason) => next(() => sink.end(reason)),
  };
}
