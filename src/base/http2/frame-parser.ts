import { CLIENT_PREFACE, ERROR, FRAME_HEAD_BYTES, Http2ConnectionError, MAX_FRAME_BYTES } from './protocol.ts';

export interface FrameHead {
  type: number;
  flags: number;
  streamId: number;
}

/** Called for each frame with its payload, `bytes` from `start` to `end`. Both objects are only valid during the call. */
export interface PayloadRange {
  bytes: Buffer;
  start: number;
  end: number;
}

export type FrameHandler = (head: FrameHead, payload: PayloadRange) => void;

/** Splits what a connection receives into frames. It holds at most one incomplete frame. */
export class FrameParser {
  readonly #head: FrameHead = { type: 0, flags: 0, streamId: 0 };
  readonly #payload: PayloadRange = { bytes: CLIENT_PREFACE, start: 0, end: 0 };
  #rest: Buffer | undefined;
  #isStopped = false;

  constructor(
    private readonly handle: FrameHandler,
    /** Whether the peer begins with the preface of clients. */
    private awaitsPreface: boolean,
  ) {}

  /** Nothing more is handled. */
  stop(): void {
    this.#isStopped = true;
    this.#rest = undefined;
  }

  push(chunk: Buffer): void {
    if (this.#isStopped) return;
    let at = this.awaitsPreface ? this.#preface(chunk) : 0;
    if (this.#rest !== undefined && !this.awaitsPreface) at = this.#complete(this.#rest, chunk, at);
    while (!this.#isStopped && chunk.length - at >= FRAME_HEAD_BYTES) {
      const end = at + frameBytes(chunk, at);
      if (end > chunk.length) break;
      this.#frame(chunk, at, end);
      at = end;
    }
    if (!this.#isStopped && at < chunk.length) this.#rest = at === 0 ? chunk : chunk.subarray(at);
  }

  /** Returns how much of the chunk belongs to the preface. */
  #preface(chunk: Buffer): number {
    const before = this.#rest?.length ?? 0;
    const length = Math.min(chunk.length, CLIENT_PREFACE.length - before);
    if (CLIENT_PREFACE.compare(chunk, 0, length, before, before + length) !== 0)
      throw new Http2ConnectionError(ERROR.PROTOCOL_ERROR, 'not the preface of HTTP/2');
    this.awaitsPreface = before + length < CLIENT_PREFACE.length;
    this.#rest = this.awaitsPreface ? CLIENT_PREFACE.subarray(0, before + length) : undefined;
    return length;
  }

  /** Copies at most the rest of a partial frame. Returns the offset of the next frame. */
  #complete(rest: Buffer, chunk: Buffer, from: number): number {
    const headEnd = from + Math.max(0, FRAME_HEAD_BYTES - rest.length);
    const begun = headEnd > from ? Buffer.concat([rest, chunk.subarray(from, headEnd)]) : rest;
    const missing = begun.length < FRAME_HEAD_BYTES ? Number.POSITIVE_INFINITY : frameBytes(begun, 0) - begun.length;
    const end = Math.min(chunk.length, headEnd + missing);
    const bytes = end > headEnd ? Buffer.concat([begun, chunk.subarray(headEnd, end)]) : begun;
    this.#rest = undefined;
    if (end < headEnd + missing) this.#rest = bytes;
    else this.#frame(bytes, 0, bytes.length);
    return end;
  }

  #frame(bytes: Buffer, at: number, end: number): void {
    const head = this.#head;
    head.type = bytes[at + 3]!;
    head.flags = bytes[at + 4]!;
    head.streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
    const payload = this.#payload;
    payload.bytes = bytes;
    payload.start = at + FRAME_HEAD_BYTES;
    payload.end = end;
    this.handle(head, payload);
  }
}

function frameBytes(bytes: Buffer, at: number): number {
  const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
  if (length > MAX_FRAME_BYTES) throw new Http2ConnectionError(ERROR.FRAME_SIZE_ERROR, 'a frame is too long');
  return FRAME_HEAD_BYTES + length;
}
