import type { Duplex } from 'node:stream';
import { hasRoom } from '../async/write-room.ts';
import { dataHeader } from './frames.ts';
import { SpdyError } from './spdy-error.ts';
import type { SpdyStream } from './spdy-stream.ts';

const MAX_DATA_BYTES = 64 * 1024;
/** The initial window of the whole connection. */
export const SESSION_WINDOW_BYTES = 64 * 1024;
export const MAX_WINDOW_BYTES = 0x7fffffff;

interface WaitingWrite {
  readonly stream: SpdyStream;
  readonly chunk: Buffer;
  readonly sent: (error?: Error) => void;
}

/** Sends the data of all streams, as far as the transport and the peer's windows allow. Each stream has one write at a time. */
export class DataSender {
  /** Off for peers without flow control. */
  isFlowControlled = true;
  /** The initial window of new streams. */
  streamWindow = SESSION_WINDOW_BYTES;
  #sessionWindow = SESSION_WINDOW_BYTES;
  #waiting: WaitingWrite[] = [];
  readonly #transport: Duplex;

  constructor(transport: Duplex) {
    this.#transport = transport;
    transport.on('drain', () => this.sendWaiting());
  }

  send(stream: SpdyStream, chunk: Buffer, sent: (error?: Error) => void): void {
    let at = 0;
    while (at < chunk.length) {
      const length = Math.min(chunk.length - at, this.#allowance(stream));
      if (length <= 0) {
        this.#waiting.push({ stream, chunk: chunk.subarray(at), sent });
        return;
      }
      this.#sendFrame(stream, chunk.subarray(at, at + length));
      at += length;
    }
    sent();
  }

  #allowance(stream: SpdyStream): number {
    if (!hasRoom(this.#transport)) return 0;
    return this.isFlowControlled ? Math.min(MAX_DATA_BYTES, stream.sendWindow, this.#sessionWindow) : MAX_DATA_BYTES;
  }

  #sendFrame(stream: SpdyStream, part: Buffer): void {
    stream.sendWindow -= part.length;
    this.#sessionWindow -= part.length;
    if (!this.#transport.writable) return;
    this.#transport.cork();
    this.#transport.write(dataHeader(stream.id, 0, part.length));
    this.#transport.write(part);
    this.#transport.uncork();
  }

  stopFlowControl(): void {
    this.isFlowControlled = false;
    this.sendWaiting();
  }

  widenSession(bytes: number): void {
    this.#sessionWindow += bytes;
    if (this.#sessionWindow > MAX_WINDOW_BYTES) throw new SpdyError('protocolError', 'the window of the connection overflows');
  }

  sendWaiting(): void {
    if (this.#waiting.length === 0) return;
    for (const { stream, chunk, sent } of this.#waiting.splice(0)) this.send(stream, chunk, sent);
  }

  drop(stream: SpdyStream): void {
    const dropped = this.#waiting.filter((write) => write.stream === stream);
    if (dropped.length === 0) return;
    this.#waiting = this.#waiting.filter((write) => write.stream !== stream);
    for (const { sent } of dropped) sent();
  }

  fail(error: Error): void {
    for (const { sent } of this.#waiting.splice(0)) sent(error);
  }
}
