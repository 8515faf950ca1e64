import type { StatusError } from '#machinery';
import type { WatchResponse } from '../request/api-response.ts';
import { JSON_TYPE } from '../request/parse-body.ts';
import type { WatchEndReason, WatchFrame, WatchSink } from '../watch-cache/watcher.ts';
import type { ResponseStream } from './exchange.ts';
import { FrameEncoder, type RenderContext } from './render.ts';
import type { Responding } from './respond.ts';
import type { WatchFlush } from './watch-flush.ts';

/** A client that lets this much pile up is too slow to follow: it is cut off, and comes back with a list. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
const BOOKMARK_EVERY_MS = 60_000;

/** Sends a watch as it happens. Events that come close together leave in one write. */
export function streamWatch(watch: WatchResponse, to: Responding, context: RenderContext): Promise<void> {
  const { exchange, headers, clock } = to;
  const { mediaType } = context.negotiated;
  const contentType = mediaType === JSON_TYPE ? JSON_TYPE : `${mediaType};stream=watch`;
  const stream = exchange.stream(200, { ...headers, 'content-type': contentType });
  const encoder = new FrameEncoder(watch.resource, context);
  const flushing = to.watchFlushes.of(watch.resource);
  return new Promise((resolve) => {
    let batch: Buffer[] = [];
    let isOver = false;
    let bookmarked = 0;
    let allowedBytes = MAX_PENDING_BYTES;
    const flush = () => {
      if (isOver) return;
      writeJoined(batch, stream, flushing);
      batch = [];
      if (stream.pending > allowedBytes) finish();
    };
    const send = (bytes: Buffer) => {
      if (isOver) return;
      batch.push(bytes);
      if (batch.length === 1) flushing.soon(flush);
    };
    const finish = () => {
      if (isOver) return;
      isOver = true;
      timeout.cancel();
      marks?.cancel();
      stop?.();
      writeJoined(batch, stream, flushing);
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
    // The state that a client asked for first may be as large as it is.
    for (const bytes of batch) allowedBytes += bytes.length;
  });
}

/** A write is worth its cost from here on. */
const WRITE_BYTES = 256 * 1024;

function writeJoined(frames: readonly Buffer[], stream: ResponseStream, flushing: WatchFlush): void {
  flushing.events?.inc(frames.length);
  for (let from = 0; from < frames.length; ) {
    let to = from;
    for (let bytes = 0; to < frames.length && bytes < WRITE_BYTES; to++) bytes += frames[to]!.length;
    stream.write(flushing.join(from === 0 && to === frames.length ? frames : frames.slice(from, to)));
    from = to;
  }
}
