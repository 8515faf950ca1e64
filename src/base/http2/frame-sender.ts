import type { Duplex } from 'node:stream';
import { type EncoderTables, HpackEncoder } from './hpack/hpack-encoder.ts';
import { type BufferPool, OutputBuffer } from './output-buffer.ts';
import { DEFAULT_WINDOW, FLAG, FRAME, FRAME_HEAD_BYTES, MAX_FRAME_BYTES } from './protocol.ts';

/** Data that is not taken by the socket yet; more of it waits in its streams. */
const WRITE_BYTES = 256 * 1024;
/** The limit of unread control frames, beyond which nothing is read from the client. */
const UNREAD_BYTES = 4 * WRITE_BYTES;
/** What a stream sends before it is another's turn. */
const SHARE_BYTES = 64 * 1024;

/** Values with several lines are sent as several fields. */
export type ResponseFields = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ResponseHead {
  readonly streamId: number;
  readonly status: number;
  readonly fields: ResponseFields;
  readonly isEnd: boolean;
}

/** Data that waits for the peer's window, or for room in the next write. */
export interface WaitingStream {
  readonly id: number;
  /** How much the peer takes on this stream. */
  window: number;
  /** Sends up to this many bytes. Returns whether more could be sent at once. */
  sendWaiting(bytes: number): boolean;
}

export interface FrameSenderOptions {
  readonly pool: BufferPool;
  readonly tables: EncoderTables;
  /** All frames were taken by the socket. */
  readonly onIdle: () => void;
}

/** Writes the frames of one connection. Those of a turn of the event loop are one write, and one write is under way at a time. */
export class FrameSender {
  /** How much the peer takes on the connection. */
  window = DEFAULT_WINDOW;
  readonly encoder: HpackEncoder;
  readonly #out: OutputBuffer;
  readonly #waiting = new Set<WaitingStream>();
  #isWriting = false;
  #isScheduled = false;
  #isPaused = false;

  constructor(
    private readonly socket: Duplex,
    private readonly options: FrameSenderOptions,
  ) {
    this.#out = new OutputBuffer(options.pool);
    this.encoder = new HpackEncoder(options.tables);
  }

  /** A frame whose payload is a few numbers. */
  control(head: { readonly type: number; readonly flags?: number; readonly streamId?: number }, values: readonly number[]): void {
    const { type, flags = 0, streamId = 0 } = head;
    this.#out.frameHead(type, flags, { streamId, length: 4 * values.length });
    for (const value of values) this.#out.uint32(value);
    this.#schedule();
  }

  /** A frame with these bytes. */
  raw(type: number, flags: number, payload: Buffer): void {
    this.#out.frameHead(type, flags, { streamId: 0, length: payload.length });
    this.#out.copy(payload, 0, payload.length);
    this.#schedule();
  }

  head({ streamId, status, fields, isEnd }: ResponseHead): void {
    const out = this.#out;
    const at = out.length;
    const flags = FLAG.END_HEADERS | (isEnd ? FLAG.END_STREAM : 0);
    out.frameHead(FRAME.HEADERS, flags, { streamId, length: 0 });
    const { encoder } = this;
    encoder.begin(out);
    encoder.field(out, ':status', String(status));
    for (const name in fields) {
      const value = fields[name];
      if (typeof value === 'string') encoder.field(out, name, value);
      else for (const item of value ?? []) encoder.field(out, name, item);
    }
    const length = out.length - at - FRAME_HEAD_BYTES;
    if (length > MAX_FRAME_BYTES) this.#splitHead(at, { streamId, isEnd });
    else out.setFrameLength(at, length);
    this.#schedule();
  }

  /** The block continues in CONTINUATION frames. */
  #splitHead(at: number, { streamId, isEnd }: Pick<ResponseHead, 'streamId' | 'isEnd'>): void {
    const out = this.#out;
    const block = Buffer.from(out.bytes.subarray(at + FRAME_HEAD_BYTES, out.length));
    out.length = at;
    for (let from = 0; from < block.length; from += MAX_FRAME_BYTES) {
      const to = Math.min(block.length, from + MAX_FRAME_BYTES);
      const flags = (to === block.length ? FLAG.END_HEADERS : 0) | (from === 0 && isEnd ? FLAG.END_STREAM : 0);
      out.frameHead(from === 0 ? FRAME.HEADERS : FRAME.CONTINUATION, flags, { streamId, length: to - from });
      out.copy(block, from, to);
    }
  }

  /** Sends what windows and the next write have room for, from this position on; returns where it stopped. */
  data(stream: WaitingStream, chunk: Buffer, range: { readonly from: number; readonly limit: number; readonly isLast: boolean }): number {
    const out = this.#out;
    const to = Math.min(chunk.length, range.from + range.limit);
    let at = range.from;
    while (at < to && out.length < WRITE_BYTES) {
      const length = Math.min(to - at, stream.window, this.window, MAX_FRAME_BYTES);
      if (length <= 0) break;
      const isEnd = range.isLast && at + length === chunk.length;
      out.frameHead(FRAME.DATA, isEnd ? FLAG.END_STREAM : 0, { streamId: stream.id, length });
      out.copy(chunk, at, at + length);
      at += length;
      stream.window -= length;
      this.window -= length;
    }
    if (at > range.from) this.#schedule();
    return at;
  }

  /** Ends a stream without data. */
  end(streamId: number): void {
    this.control({ type: FRAME.DATA, flags: FLAG.END_STREAM, streamId }, []);
  }

  wait(stream: WaitingStream): void {
    this.#waiting.add(stream);
    this.#schedule();
  }

  forget(stream: WaitingStream): void {
    this.#waiting.delete(stream);
  }

  /** Sends what can be sent now. */
  resume(): void {
    this.#schedule();
  }

  /** The responses of one turn are ready when its promises are settled. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      if (!this.#isWriting) this.#write();
    });
  }

  #write(): void {
    this.#sendWaiting();
    if (this.#out.length === 0) this.options.onIdle();
    else if (!this.socket.destroyed) this.#writeOutput();
  }

  #writeOutput(): void {
    this.#isWriting = true;
    const { length } = this.#out;
    const bytes = this.#out.detach();
    this.socket.write(length === bytes.length ? bytes : bytes.subarray(0, length), () => this.#written(bytes));
  }

  #written(bytes: Buffer): void {
    this.options.pool.release(bytes);
    this.#isWriting = false;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.socket.resume();
    }
    this.#write();
  }

  #sendWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#out.length >= WRITE_BYTES || this.window <= 0) return;
      this.#waiting.delete(stream);
      // Added at the end: the stream's next turn is after all others.
      if (stream.sendWaiting(SHARE_BYTES)) this.#waiting.add(stream);
    }
  }

  /** Called after each chunk that was received: what it made us send is bounded. */
  pauseIfUnread(): void {
    if (this.#isPaused || !this.#isWriting || this.#out.length < UNREAD_BYTES) return;
    this.#isPaused = true;
    this.socket.pause();
  }
}
