import type { Duplex } from 'node:stream';
import { type Clock, realClock, type TimerHandle } from '../time/clock.ts';
import { TokenBucket } from '../time/rate-limiter.ts';
import { DISCARDED_BYTES, DiscardedBodies } from './discarded-bodies.ts';
import { calm, expectLength, removePadding, settingsPayload, violation, windowTooLarge } from './frame-checks.ts';
import { type FrameHead, FrameParser, type PayloadRange } from './frame-parser.ts';
import { FrameSender } from './frame-sender.ts';
import { HpackDecoder, type HpackTables } from './hpack/hpack-decoder.ts';
import type { EncoderTables } from './hpack/hpack-encoder.ts';
import type { BufferPool } from './output-buffer.ts';
import { PeerSettings } from './peer-settings.ts';
import { DEFAULT_WINDOW, ERROR, FLAG, FRAME, Http2ConnectionError, MAX_WINDOW, SETTING } from './protocol.ts';
import { areTrailers, type RequestHeaders, requestHeaders } from './request-headers.ts';
import { ServerStream, type StreamOwner } from './server-stream.ts';
import { StreamTable } from './stream-table.ts';

export interface Http2ConnectionOptions {
  readonly maxConcurrentStreams: number;
  readonly pool: BufferPool;
  readonly decoding: HpackTables;
  readonly encoding: EncoderTables;
  /** Called for each request. `release` must be called when all work for the request has ended. */
  readonly onStream: (stream: ServerStream, connection: ServerConnection, release: () => void) => void;
}

/** The flow-control window of a client. */
const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 16 * STREAM_WINDOW;
/** A WINDOW_UPDATE is sent when this share of a window was consumed. */
const CREDIT_PART = 4;
const MAX_LIST_BYTES = 64 * 1024;
/** The limit of a compressed header block, and of its frames. */
const MAX_BLOCK_BYTES = 128 * 1024;
const MAX_CONTINUATIONS = 32;
/** Frames that cause work or a response without being a request: pings, settings, priorities, empty data, unknown types. */
const IDLE_FRAMES = { perSecond: 1000, burst: 10_000 };
/** Requests that are cancelled, as nghttp2 limits them. */
const RESETS = { perSecond: 33, burst: 1000 };
/** How long a client may take to close its end after we have closed ours. */
const LINGER_MS = 1000;

interface HeaderBlock {
  readonly streamId: number;
  readonly isEnd: boolean;
  readonly parts: Buffer[];
  bytes: number;
}

/**
 * The server's side of one HTTP/2 connection (RFC 9113), on a socket that is connected. It makes no stream of Node for a request, which is what
 * costs most of the time in Node's own module. Violations end the connection with GOAWAY, or the stream with RST_STREAM.
 */
export class ServerConnection implements StreamOwner {
  readonly sender: FrameSender;
  // Real time: peers are outside of the cluster's (possibly virtual) time.
  readonly #clock: Clock = realClock;
  readonly #parser: FrameParser;
  readonly #decoder: HpackDecoder;
  readonly #peer = new PeerSettings();
  readonly #streams = new StreamTable<ServerStream>();
  readonly #idleFrames: TokenBucket;
  readonly #resets: TokenBucket;
  readonly #discardedBodies: DiscardedBodies;
  #lastStreamId = 0;
  /** Requests that are worked for, even if their streams were reset. */
  #running = 0;
  #receiveWindow = CONNECTION_WINDOW;
  #uncredited = 0;
  /** A header block that continues in the next frame. */
  #block: HeaderBlock | undefined;
  #isClosing = false;
  #isEnded = false;
  #linger: TimerHandle | undefined;

  constructor(
    readonly socket: Duplex,
    private readonly options: Http2ConnectionOptions,
  ) {
    const { pool, encoding, decoding, maxConcurrentStreams } = options;
    this.#idleFrames = new TokenBucket(this.#clock, IDLE_FRAMES);
    this.#resets = new TokenBucket(this.#clock, RESETS);
    this.#discardedBodies = new DiscardedBodies(this.#clock, (streamId) => this.#sendReset(streamId, ERROR.NO_ERROR));
    this.#decoder = new HpackDecoder(decoding, MAX_LIST_BYTES);
    this.#parser = new FrameParser((head, payload) => this.#frame(head, payload), true);
    this.sender = new FrameSender(socket, { pool, tables: encoding, onIdle: () => this.#endIfDone() });
    const settings = [
      [SETTING.MAX_CONCURRENT_STREAMS, maxConcurrentStreams],
      [SETTING.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
      [SETTING.MAX_HEADER_LIST_SIZE, MAX_LIST_BYTES],
    ] as const;
    this.sender.raw(FRAME.SETTINGS, 0, settingsPayload(settings));
    this.sender.control({ type: FRAME.WINDOW_UPDATE }, [CONNECTION_WINDOW - DEFAULT_WINDOW]);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('close', () => this.#closed());
  }

  /** Whether `close` was called, or the connection failed. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Sends GOAWAY, and closes the connection when its requests are answered. */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#goAway(ERROR.NO_ERROR);
  }

  destroy(): void {
    this.socket.destroy();
  }

  consumed(stream: ServerStream | undefined, bytes: number): void {
    this.#uncredited += bytes;
    if (this.#uncredited >= CONNECTION_WINDOW / CREDIT_PART) {
      this.sender.control({ type: FRAME.WINDOW_UPDATE }, [this.#uncredited]);
      this.#receiveWindow += this.#uncredited;
      this.#uncredited = 0;
    }
    if (stream === undefined || stream.isRequestEnded) return;
    stream.uncredited += bytes;
    if (stream.uncredited < STREAM_WINDOW / CREDIT_PART) return;
    this.sender.control({ type: FRAME.WINDOW_UPDATE, streamId: stream.id }, [stream.uncredited]);
    stream.receiveWindow += stream.uncredited;
    stream.uncredited = 0;
  }

  reset(stream: ServerStream, code: number): void {
    this.#sendReset(stream.id, code);
    stream.close(false);
  }

  #sendReset(streamId: number, code: number): void {
    this.sender.control({ type: FRAME.RST_STREAM, streamId }, [code]);
  }

  finishEarly(stream: ServerStream): void {
    const { id } = stream;
    if (this.#discardedBodies.begin(id)) this.sender.control({ type: FRAME.WINDOW_UPDATE, streamId: id }, [DISCARDED_BYTES]);
    stream.close(true);
  }

  closed(stream: ServerStream): void {
    this.#streams.delete(stream.id);
    this.sender.forget(stream);
    if (this.#isClosing) this.sender.resume();
  }

  #receive(chunk: Buffer): void {
    try {
      this.#parser.push(chunk);
      this.sender.pauseIfUnread();
    } catch (error) {
      if (!(error instanceof Http2ConnectionError)) throw error;
      this.#fail(error.code);
    }
  }

  #fail(code: number): void {
    this.#parser.stop();
    this.#isClosing = true;
    this.#goAway(code);
    for (const stream of this.#streams.values()) stream.close(false);
    // Even if the client does not read what was sent before.
    this.#destroyLater();
  }

  #goAway(code: number): void {
    this.sender.control({ type: FRAME.GOAWAY }, [this.#lastStreamId, code]);
  }

  /** Called whenever the socket has taken all frames. */
  #endIfDone(): void {
    if (!this.#isClosing || this.#streams.size > 0 || this.#isEnded) return;
    this.#isEnded = true;
    this.socket.end();
    // Keeps reading: otherwise the kernel would drop our last frames.
    this.#destroyLater();
  }

  #destroyLater(): void {
    this.#linger ??= this.#clock.setTimer(LINGER_MS, () => this.socket.destroy());
  }

  #closed(): void {
    this.#isClosing = true;
    this.#parser.stop();
    this.#linger?.cancel();
    this.#discardedBodies.stop();
    for (const stream of this.#streams.values()) stream.close(false);
  }

  #frame(head: FrameHead, payload: PayloadRange): void {
    if (this.#block !== undefined && (head.type !== FRAME.CONTINUATION || head.streamId !== this.#block.streamId))
      throw violation('a header block is interrupted');
    if (head.type === FRAME.DATA) this.#data(head, payload);
    else if (head.type === FRAME.HEADERS) this.#headers(head, payload);
    else if (head.type === FRAME.WINDOW_UPDATE) this.#windowUpdate(head, payload);
    else this.#rareFrame(head, payload);
  }

  #rareFrame(head: FrameHead, payload: PayloadRange): void {
    if (head.type === FRAME.CONTINUATION) this.#continuation(head, payload);
    else if (head.type === FRAME.RST_STREAM) this.#rstStream(head, payload);
    else if (head.type === FRAME.SETTINGS) this.#settings(head, payload);
    else if (head.type === FRAME.PING) this.#ping(head, payload);
    else if (head.type === FRAME.PRIORITY) this.#priority(head, payload);
    else if (head.type === FRAME.GOAWAY) this.#peerGoAway(head, payload);
    else if (head.type === FRAME.PUSH_PROMISE) throw violation('clients cannot push');
    else this.#countIdleFrame();
  }

  #data({ streamId, flags }: FrameHead, payload: PayloadRange): void {
    this.#checkOpened(streamId);
    const length = payload.end - payload.start;
    if (length > this.#receiveWindow) throw new Http2ConnectionError(ERROR.FLOW_CONTROL_ERROR, 'the window of the connection is exceeded');
    this.#receiveWindow -= length;
    removePadding(flags, payload);
    const isEnd = (flags & FLAG.END_STREAM) !== 0;
    const bytes = payload.end - payload.start;
    if (bytes === 0 && !isEnd) this.#countIdleFrame();
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.isRequestEnded || length > stream.receiveWindow) {
      this.consumed(undefined, length);
      // Of a stream that is gone: its response was sent, or it was reset by us.
      if (stream === undefined) this.#discardedBodies.receive(streamId, { bytes: length, isEnd });
      else this.reset(stream, stream.isRequestEnded ? ERROR.STREAM_CLOSED : ERROR.FLOW_CONTROL_ERROR);
      return;
    }
    stream.receiveWindow -= length;
    if (length > bytes) this.consumed(stream, length - bytes);
    if (bytes > 0) stream.receiveData(payload.bytes.subarray(payload.start, payload.end));
    if (isEnd && !stream.isClosed) stream.receiveEnd();
  }

  #headers({ streamId, flags }: FrameHead, payload: PayloadRange): void {
    if (streamId % 2 === 0) throw violation('headers of a stream that clients cannot open');
    removePadding(flags, payload);
    if (flags & FLAG.PRIORITY) payload.start += 5;
    if (payload.start > payload.end) throw violation('a frame is shorter than its fields');
    const isEnd = (flags & FLAG.END_STREAM) !== 0;
    const { bytes, start, end } = payload;
    if (flags & FLAG.END_HEADERS) this.#fields({ streamId, isEnd }, payload);
    else this.#block = { streamId, isEnd, parts: [Buffer.from(bytes.subarray(start, end))], bytes: end - start };
  }

  #continuation({ flags }: FrameHead, { bytes, start, end }: PayloadRange): void {
    const block = this.#block;
    if (block === undefined) throw violation('a continuation of nothing');
    block.bytes += end - start;
    block.parts.push(Buffer.from(bytes.subarray(start, end)));
    if (block.bytes > MAX_BLOCK_BYTES || block.parts.length > MAX_CONTINUATIONS) throw calm('a header block is too long');
    if ((flags & FLAG.END_HEADERS) === 0) return;
    this.#block = undefined;
    this.#fields(block, { bytes: Buffer.concat(block.parts), start: 0, end: block.bytes });
  }

  #fields({ streamId, isEnd }: Pick<HeaderBlock, 'streamId' | 'isEnd'>, { bytes, start, end }: PayloadRange): void {
    // Decoded even if the stream is rejected: later blocks refer to its table.
    const fields = this.#decoder.decode(bytes, start, end);
    if (streamId <= this.#lastStreamId) this.#trailers(streamId, isEnd && fields !== undefined && areTrailers(fields));
    else if (!this.#isClosing) {
      this.#lastStreamId = streamId;
      if (fields === undefined) this.#reject(streamId, ERROR.ENHANCE_YOUR_CALM);
      else this.#request({ streamId, isEnd }, requestHeaders(fields));
    }
  }

  #request({ streamId, isEnd }: Pick<HeaderBlock, 'streamId' | 'isEnd'>, headers: RequestHeaders | undefined): void {
    if (headers === undefined) this.#reject(streamId, ERROR.PROTOCOL_ERROR);
    else if (this.#openCount() >= this.options.maxConcurrentStreams) this.#reject(streamId, ERROR.REFUSED_STREAM);
    else {
      const stream = new ServerStream(streamId, headers, this, { send: this.#peer.initialWindow, receive: STREAM_WINDOW });
      this.#streams.add(stream);
      if (isEnd) stream.receiveEnd();
      if (!stream.isClosed) this.#begin(stream);
    }
  }

  /** Requests that are worked for, or responses that the client has not read: the former outlive reset streams, the latter the work. */
  #openCount(): number {
    return Math.max(this.#running, this.#streams.size);
  }

  #begin(stream: ServerStream): void {
    this.#running++;
    let isReleased = false;
    this.options.onStream(stream, this, () => {
      if (!isReleased) this.#running--;
      isReleased = true;
    });
  }

  #reject(streamId: number, code: number): void {
    this.#sendReset(streamId, code);
    if (code !== ERROR.REFUSED_STREAM) this.#countIdleFrame();
  }

  #trailers(streamId: number, areValid: boolean): void {
    const stream = this.#streams.get(streamId);
    this.#discardedBodies.end(streamId);
    if (stream === undefined) this.#countIdleFrame();
    else if (stream.isRequestEnded) this.reset(stream, ERROR.STREAM_CLOSED);
    else if (areValid) stream.receiveEnd();
    else this.reset(stream, ERROR.PROTOCOL_ERROR);
  }

  #windowUpdate({ streamId }: FrameHead, payload: PayloadRange): void {
    expectLength(payload, 4);
    const increment = payload.bytes.readUInt32BE(payload.start) & MAX_WINDOW;
    if (streamId === 0) this.#growConnectionWindow(increment);
    else {
      this.#checkOpened(streamId);
      const stream = this.#streams.get(streamId);
      if (stream !== undefined) this.#growStreamWindow(stream, increment);
    }
  }

  #growConnectionWindow(increment: number): void {
    if (increment === 0) throw violation('a window grows by nothing');
    this.sender.window += increment;
    if (this.sender.window > MAX_WINDOW) throw windowTooLarge();
    this.sender.resume();
  }

  #growStreamWindow(stream: ServerStream, increment: number): void {
    stream.window += increment;
    if (increment === 0) this.reset(stream, ERROR.PROTOCOL_ERROR);
    else if (stream.window > MAX_WINDOW) this.reset(stream, ERROR.FLOW_CONTROL_ERROR);
    else if (stream.pending > 0 && stream.window > 0) this.sender.wait(stream);
  }

  #rstStream({ streamId }: FrameHead, payload: PayloadRange): void {
    expectLength(payload, 4);
    this.#checkOpened(streamId);
    if (!this.#resets.tryTake()) throw calm('too many streams are reset');
    this.#discardedBodies.end(streamId);
    this.#streams.get(streamId)?.close(false);
  }

  #settings({ streamId, flags }: FrameHead, payload: PayloadRange): void {
    if (streamId !== 0) throw violation('settings of a stream');
    if (flags & FLAG.ACK) {
      expectLength(payload, 0);
      return;
    }
    if ((payload.end - payload.start) % 6 !== 0) throw new Http2ConnectionError(ERROR.FRAME_SIZE_ERROR, 'settings of a wrong length');
    this.#countIdleFrame();
    const { initialWindow } = this.#peer;
    this.#peer.update(payload);
    this.sender.encoder.limitTable(this.#peer.headerTableBytes);
    this.#growWindows(this.#peer.initialWindow - initialWindow);
    this.sender.control({ type: FRAME.SETTINGS, flags: FLAG.ACK }, []);
  }

  /** A new initial window applies to open streams too. */
  #growWindows(by: number): void {
    if (by === 0) return;
    for (const stream of this.#streams.values()) {
      stream.window += by;
      if (stream.window > MAX_WINDOW) throw windowTooLarge();
      if (stream.pending > 0 && stream.window > 0) this.sender.wait(stream);
    }
  }

  #ping({ streamId, flags }: FrameHead, payload: PayloadRange): void {
    if (streamId !== 0) throw violation('a ping of a stream');
    expectLength(payload, 8);
    this.#countIdleFrame();
    if ((flags & FLAG.ACK) === 0) this.sender.raw(FRAME.PING, FLAG.ACK, payload.bytes.subarray(payload.start, payload.end));
  }

  /** Ignored: RFC 9113 deprecates priorities. */
  #priority({ streamId }: FrameHead, payload: PayloadRange): void {
    if (streamId === 0) throw violation('a priority of the connection');
    expectLength(payload, 5);
    this.#countIdleFrame();
  }

  /** The client opens no more streams. */
  #peerGoAway({ streamId }: FrameHead, payload: PayloadRange): void {
    if (streamId !== 0) throw violation('the end of a stream only');
    if (payload.end - payload.start < 8) throw new Http2ConnectionError(ERROR.FRAME_SIZE_ERROR, 'a frame of a wrong length');
    this.close();
  }

  /** After our GOAWAY the client may have opened streams that we ignore. */
  #checkOpened(streamId: number): void {
    const isOpened = streamId <= this.#lastStreamId || this.#isClosing;
    if (streamId === 0 || streamId % 2 === 0 || !isOpened) throw violation('a frame of a stream that was not opened');
  }

  #countIdleFrame(): void {
    if (!this.#idleFrames.tryTake()) throw calm('too many frames that are no requests');
  }
}
