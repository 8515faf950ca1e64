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
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = this.awaitsPreface ? this.#preface(bytes) : 0;
    if (this.awaitsPreface) {
      this.#rest = bytes;
      return;
    }
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      if (length > MAX_FRAME_BYTES) throw new Http2ConnectionError(ERROR.FRAME_SIZE_ERROR, 'a frame is too long');
      const end = at + FRAME_HEAD_BYTES + length;
      if (end > bytes.length) break;
      this.#frame(bytes, at, end);
      if (this.#isStopped) return;
      at = end;
    }
    if (at < bytes.length) this.#rest = at === 0 ? bytes : bytes.subarray(at);
  }

  #preface(bytes: Buffer): number {
    const length = Math.min(bytes.length, CLIENT_PREFACE.length);
    if (CLIENT_PREFACE.compare(bytes, 0, length, 0, length) !== 0)
      throw new Http2ConnectionError(ERROR.PROTOCOL_ERROR, 'not the preface of HTTP/2');
    this.awaitsPreface = length < CLIENT_PREFACE.length;
    return length;
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
