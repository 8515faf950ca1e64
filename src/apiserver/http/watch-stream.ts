import { type Clock, realClock, type TimerHandle } from '#base';
import { StatusError } from '#machinery';
import type { WatchResponse } from '../handlers/api-response.ts';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import { JSON_TYPE } from '../request/parse-body.ts';
import type { CachedObject } from '../watch-cache/cached-object.ts';
import { loadVersions } from '../watch-cache/load-versions.ts';
import { objectsOfFrame, selectConverted } from '../watch-cache/select-converted.ts';
import type { OpenWatch, WatchFrame, WatchSink } from '../watch-cache/watcher.ts';
import type { ResponseStream } from './exchange.ts';
import { FrameEncoder } from './frame-encoder.ts';
import type { DropReason, SlowWatcher } from './pending-frames.ts';
import type { RenderContext } from './render.ts';
import type { ResponseContext } from './respond.ts';
import { type SharedState, WRITE_BYTES } from './shared-states.ts';
import type { WatchFlush } from './watch-flush.ts';

/** Above this, nothing more is encoded for the client: further changes wait as objects. */
const SENDING_BYTES = 128 * 1024;
/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 60_000;
/** A snapshot is kept at most this long for a slow reader. */
const BACKLOG_MS = 10 * 60_000;
const BOOKMARK_EVERY_MS = 60_000;

/** Streams a watch. Events that arrive close together are sent in one write. */
export function streamWatch(watch: WatchResponse, to: ResponseContext, context: RenderContext): Promise<void> {
  const { mediaType } = context.negotiated;
  const contentType = mediaType === JSON_TYPE ? JSON_TYPE : `${mediaType};stream=watch`;
  const stream = to.exchange.stream(200, { ...to.headers, 'content-type': contentType });
  return new WatchWriter(watch, to, { stream, encoder: new FrameEncoder(watch.resource, context) }).done;
}

/** A change, or bytes for this client only. */
type Item = WatchFrame | Buffer;

interface Output {
  readonly stream: ResponseStream;
  readonly encoder: FrameEncoder;
}

/** One watch over the network. It holds at most `SENDING_BYTES` and one write as bytes; further changes wait as objects in `PendingFrames`. */
class WatchWriter implements WatchSink, SlowWatcher {
  readonly resource: ServedResource;
  readonly done: Promise<void>;
  // Real time: peers are outside of the cluster's (possibly virtual) time.
  readonly #peerClock: Clock = realClock;
  readonly #flushing: WatchFlush;
  readonly #timeout: TimerHandle;
  /** Changes that are not sent yet; while busy, all of them are held in `PendingFrames`. */
  #items: Item[] = [];
  /** Earlier data is still being sent. */
  #isBusy = true;
  #isOver = false;
  #open: OpenWatch | undefined;
  #marks: TimerHandle | undefined;
  #marked = 0;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(
    private readonly watch: WatchResponse,
    private readonly to: ResponseContext,
    private readonly output: Output,
  ) {
    this.resource = watch.resource;
    this.#flushing = to.watchFlushes.of(watch.resource);
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timeout = to.clock.setTimer(watch.timeoutMs, () => this.#finish());
    if (watch.bookmarks) this.#marks = to.clock.setTimer(BOOKMARK_EVERY_MS, () => this.#mark());
    to.exchange.onAbandoned(() => this.#finish());
    const open = watch.open(this);
    this.#open = open;
    if (this.#isOver) open.stop();
    else this.#begin(open).catch((error: unknown) => this.#fail(error));
  }

  frame(frame: WatchFrame): void {
    this.#add(frame);
  }

  bookmark(revision: number, initialEventsEnd: boolean): void {
    this.#add(this.output.encoder.bookmark(revision, initialEventsEnd));
  }

  error(error: StatusError): void {
    this.#add(this.output.encoder.error({ ...error.status }));
    this.end();
  }

  /** Pending items are sent first. */
  end(): void {
    queueMicrotask(() => this.#finish());
  }

  drop(reason: DropReason): void {
    if (this.#isOver) return;
    this.to.pendingFrames.count(this, reason);
    this.#finish();
    if (reason === 'Stalled') this.output.stream.destroy();
  }

  /** Sends the backlog at the client's pace. */
  async #begin(open: OpenWatch): Promise<void> {
    const { initialEventsEnd } = open;
    const late = this.#peerClock.setTimer(BACKLOG_MS, () => this.drop('Stalled'));
    const shared = this.#sharedState(open);
    try {
      // Without a backlog nothing is awaited: an error of the watch is pending.
      if (shared !== undefined) await this.#sendShared(shared);
      else for (const batch of batchesOf(open.backlog)) await this.#sendBatch(batch);
    } finally {
      late.cancel();
      shared?.leave();
    }
    if (this.#isOver) return;
    if (initialEventsEnd !== undefined) this.output.stream.write(this.output.encoder.bookmark(initialEventsEnd, true));
    this.#unblock();
  }

  /** Undefined when the backlog is not an initial state, or when it cannot be shared. */
  #sharedState({ backlog, stateId }: OpenWatch): SharedState | undefined {
    const { sharedKey } = this.output.encoder;
    const isOwn = stateId === undefined || sharedKey === undefined || this.resource.remote || this.watch.matchesConverted !== undefined;
    return isOwn ? undefined : this.to.sharedStates.join(stateId, sharedKey, backlog);
  }

  async #sendShared(state: SharedState): Promise<void> {
    const { stream, encoder } = this.output;
    for (let piece = state.piece(0, encoder); piece !== undefined; piece = state.piece(piece.next, encoder)) {
      stream.write(piece.bytes);
      this.#flushing.events?.inc(piece.count);
      if (stream.pending > SENDING_BYTES) await this.#drained();
      if (this.#isOver) return;
    }
  }

  async #sendBatch(batch: readonly WatchFrame[]): Promise<void> {
    if (this.#isOver) return;
    const versions = loadVersions(this.resource, objectsOf(batch));
    if (versions !== undefined) await versions;
    await this.#sendAtPace(this.#selected(batch));
  }

  async #sendAtPace(batch: readonly WatchFrame[]): Promise<void> {
    const { stream, encoder } = this.output;
    for (let from = 0; from < batch.length; ) {
      let to = from;
      let length = 0;
      for (; to < batch.length && length < WRITE_BYTES; to++) length += encoder.lengthOf(batch[to]!);
      stream.write(encoder.join(batch.slice(from, to), length));
      this.#flushing.events?.inc(to - from);
      from = to;
      if (stream.pending > SENDING_BYTES) await this.#drained();
      if (this.#isOver) return;
    }
  }

  #add(item: Item): void {
    if (this.#isOver) return;
    this.#items.push(item);
    if (this.#isBusy) this.#hold(item);
    else if (this.#items.length === 1) this.#flushing.schedule(() => this.#flush());
  }

  #hold(item: Item): void {
    if (!Buffer.isBuffer(item) && !this.#isOver) this.to.pendingFrames.hold(this, item);
  }

  #flush(): void {
    if (this.#isOver || this.#isBusy || this.#items.length === 0) return;
    try {
      const versions = this.resource.remote && loadVersions(this.resource, objectsOf(this.#items));
      if (versions === undefined) {
        if (this.watch.matchesConverted)
          this.#items = this.#items.flatMap<Item>((item) => (isFrame(item) ? this.#selected([item]) : [item]));
        this.#send();
      } else {
        this.#block();
        versions.then(() => this.#unblock()).catch((error: unknown) => this.#fail(error));
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #selected(frames: readonly WatchFrame[]): readonly WatchFrame[] {
    const { matchesConverted } = this.watch;
    if (matchesConverted === undefined) return frames;
    return frames.flatMap((frame) => selectConverted(frame, this.resource, matchesConverted) ?? []);
  }

  /** Sends as much as the client can take; the rest waits. */
  #send(): void {
    const { stream } = this.output;
    const sent = this.#write(this.#items);
    this.#items = sent === this.#items.length ? [] : this.#items.slice(sent);
    if (stream.pending <= SENDING_BYTES) return;
    this.#block();
    this.#drained()
      .then(() => this.#unblock())
      .catch((error: unknown) => this.#fail(error));
  }

  #block(): void {
    this.#isBusy = true;
    for (const item of this.#items) this.#hold(item);
  }

  #unblock(): void {
    if (this.#isOver) return;
    this.to.pendingFrames.release(this);
    this.#isBusy = false;
    this.#flush();
  }

  /** Returns how many of the items were written. */
  #write(items: readonly Item[]): number {
    const { stream, encoder } = this.output;
    let from = 0;
    while (from < items.length && stream.pending <= SENDING_BYTES) {
      const encoded: Buffer[] = [];
      for (let bytes = 0; from < items.length && bytes < WRITE_BYTES; from++) {
        const item = items[from]!;
        const piece = Buffer.isBuffer(item) ? item : encoder.encode(item);
        encoded.push(piece);
        bytes += piece.length;
      }
      this.#flushing.events?.inc(encoded.length);
      stream.write(this.#flushing.join(encoded));
    }
    return from;
  }

  async #drained(): Promise<void> {
    const stalled = this.#peerClock.setTimer(STALLED_MS, () => this.drop('Stalled'));
    await this.output.stream.drained();
    stalled.cancel();
  }

  #mark(): void {
    const revision = this.watch.revision();
    if (this.#marked !== revision) this.bookmark(revision, false);
    this.#marked = revision;
    this.#marks = this.to.clock.setTimer(BOOKMARK_EVERY_MS, () => this.#mark());
  }

  /** The client gets the reason; server errors are logged by the caller. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    if (!(error instanceof StatusError)) this.#reject(error);
    const { stream, encoder } = this.output;
    stream.write(encoder.error({ ...StatusError.from(error).status }));
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    // Before the watch was opened nothing was sent: the reason is the whole response.
    const isReady = !this.#isBusy || this.#open === undefined;
    this.to.pendingFrames.release(this);
    this.#isOver = true;
    this.#timeout.cancel();
    this.#marks?.cancel();
    this.#open?.stop();
    if (isReady) this.#writeLast();
    this.#items = [];
    this.#end();
    this.#resolve();
  }

  #writeLast(): void {
    try {
      this.#write(this.#items);
    } catch (error) {
      this.#reject(error);
    }
  }

  /** A client that does not read is disconnected after a while. */
  #end(): void {
    const { stream } = this.output;
    let isEnded = false;
    let stalled: TimerHandle | undefined;
    stream.end(() => {
      isEnded = true;
      stalled?.cancel();
    });
    if (!isEnded) stalled = this.#peerClock.setTimer(STALLED_MS, () => stream.destroy());
  }
}

/** How many frames are processed between back-pressure checks. */
const BATCH = 256;

function* batchesOf(frames: Iterable<WatchFrame>): Generator<readonly WatchFrame[]> {
  let batch: WatchFrame[] = [];
  for (const frame of frames) {
    batch.push(frame);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function objectsOf(items: readonly Item[]): readonly CachedObject[] {
  return items.flatMap((item) => (isFrame(item) ? objectsOfFrame(item) : []));
}

function isFrame(item: Item): item is WatchFrame {
  return !Buffer.isBuffer(item);
}
