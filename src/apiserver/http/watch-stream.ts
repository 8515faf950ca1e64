import type { StatusError } from '#machinery';
import type { WatchResponse } from '../request/api-response.ts';
import { JSON_TYPE } from '../request/parse-body.ts';
import type { WatchEndReason, WatchFrame, WatchSink } from '../watch-cache/watcher.ts';
import { FrameEncoder, type RenderContext } from './render.ts';
import type { Responding } from './respond.ts';

/** A client that lets this much pile up is too slow to follow: it is cut off, and comes back with a list. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
const BOOKMARK_EVERY_MS = 60_000;

/** Sends a watch as it happens. Events that come in the same turn leave in one write. */
export function streamWatch(watch: WatchResponse, { exchange, headers, clock }: Responding, context: RenderContext): Promise<void> {
  const { mediaType } = context.negotiated;
  const contentType = mediaType === JSON_TYPE ? JSON_TYPE : `${mediaType};stream=watch`;
  const stream = exchange.stream(200, { ...headers, 'content-type': contentType });
  const encoder = new FrameEncoder(watch.resource, context);
  return new Promise((resolve) => {
    let batch: Buffer[] = [];
    let isOver = false;
    let bookmarked = 0;
    const flush = () => {
      if (batch.length === 0) return;
      stream.write(batch.length === 1 ? batch[0]! : Buffer.concat(batch));
      batch = [];
      if (stream.pending > MAX_PENDING_BYTES) finish();
    };
    const send = (bytes: Buffer) => {
      if (isOver) return;
      batch.push(bytes);
      if (batch.length === 1) queueMicrotask(flush);
    };
    const finish = () => {
      if (isOver) return;
      isOver = true;
      timeout.cancel();
      marks?.cancel();
      stop?.();
      if (batch.length > 0) stream.write(Buffer.concat(batch));
      stream.end();
      resolve();
    };
    const mark = () => {
      if (bookmarked !== watch.revision()) send(encoder.bookmark(watch.revision(), false));
      bookmarked = watch.revision();
      marks = clock.setTimer(BOOKMARK_EVERY_MS, mark);
    };
    const sink: WatchSink = {
      frame: (frame: WatchFrame) => send(encoder.encode(frame)),
      bookmark: (revision, initialEventsEnd) => send(encoder.bookmark(revision, initialEventsEnd)),
      error: (error: StatusError) => {
        send(encoder.error({ ...error.status }));
        queueMicrotask(finish);
      },
      end: (_reason: WatchEndReason) => finish(),
    };
    const timeout = clock.setTimer(watch.timeoutMs, finish);
    let marks = watch.bookmarks ? clock.setTimer(BOOKMARK_EVERY_MS, mark) : undefined;
    let stop: (() => void) | undefined;
    exchange.onAbandoned(finish);
    stop = watch.open(sink);
  });
}
