import { Duplex } from 'node:stream';
import { ReceivedPieces } from '../async/received-pieces.ts';
import type { SpdyHeaders } from './header-block.ts';
import { RESET, type SpdyError, StreamResetError } from './spdy-error.ts';

/** The connection's interface to its streams. */
export interface StreamCarrier {
  sendData(stream: SpdyStream, chunk: Buffer, sent: (error?: Error) => void): void;
  sendFin(stream: SpdyStream): void;
  sendReply(stream: SpdyStream, headers: SpdyHeaders): void;
  sendReset(stream: SpdyStream, status: number): void;
  /** The consumer reads on. */
  wantsData(stream: SpdyStream): void;
}

/** The amount that arrives in one turn of the event loop: pausing at each chunk would cost more than accepting it. */
const BUFFER_BYTES = 256 * 1024;

/** One stream of a connection. Its directions end separately; destroying it resets what has not ended. */
export class SpdyStream extends Duplex {
  /** The send window, if the peer uses flow control. */
  sendWindow = 0;
  bytesReceived = 0;
  /** The part of `bytesReceived` that was acknowledged to the peer. */
  bytesCredited = 0;
  isReplied: boolean;
  isRemoteEnded = false;
  isLocalEnded = false;
  /** Resolves when the peer accepts the stream; rejects if it does not. */
  readonly replied: Promise<SpdyHeaders>;
  readonly #carrier: StreamCarrier;
  readonly #received = new ReceivedPieces(this);
  #resolveReply: (headers: SpdyHeaders) => void = () => {};
  #rejectReply: (error: Error) => void = () => {};

  constructor(
    readonly id: number,
    readonly headers: SpdyHeaders,
    carrier: StreamCarrier,
  ) {
    super({ allowHalfOpen: true, readableHighWaterMark: BUFFER_BYTES, writableHighWaterMark: BUFFER_BYTES });
    this.#carrier = carrier;
    this.isReplied = false;
    this.replied = new Promise((resolve, reject) => {
      this.#resolveReply = resolve;
      this.#rejectReply = reject;
    });
    this.replied.catch(() => {});
    // Users of the stream handle errors themselves; an error of an unused stream must not end the process.
    this.on('error', () => {});
  }

  /** Accepts a stream opened by the peer. */
  reply(headers: SpdyHeaders = new Map()): void {
    if (this.isReplied || this.destroyed) return;
    this.isReplied = true;
    this.#carrier.sendReply(this, headers);
    this.#resolveReply(headers);
  }

  /** Resets or refuses the stream. */
  reset(status: number = RESET.cancel): void {
    if (this.destroyed) return;
    this.destroy(new StreamResetError(status));
  }

  /** Data of the peer. Returns whether the stream takes more. */
  receive(chunk: Buffer): boolean {
    return this.#received.add(chunk);
  }

  /** The peer has sent all. */
  receiveEnd(): void {
    this.#received.end();
  }

  /** Received bytes that nobody has read. */
  get unreadBytes(): number {
    return this.#received.unreadBytes;
  }

  /** The peer accepted. */
  acceptReply(headers: SpdyHeaders): void {
    this.isReplied = true;
    this.#resolveReply(headers);
  }

  /** The peer closed both directions, as Go's spdystream closes streams. Later writes are dropped. */
  cancelByPeer(): void {
    const wasEnded = this.isRemoteEnded;
    this.isRemoteEnded = true;
    this.isLocalEnded = true;
    this.#rejectReply(new StreamResetError(RESET.cancel));
    if (!wasEnded) this.#received.end();
  }

  /** The peer or the connection ended the stream prematurely. */
  fail(error: StreamResetError | SpdyError): void {
    this.isRemoteEnded = true;
    this.isLocalEnded = true;
    this.destroy(error);
  }

  /** The connection is closed. Data received before the end of the stream can still be read; readers that reach the end see no error. */
  endWithConnection(error: SpdyError): void {
    if (!this.isRemoteEnded) {
      this.fail(error);
      return;
    }
    this.isLocalEnded = true;
    if (this.readableEnded || this.destroyed) this.destroy();
    else this.once('end', () => this.destroy());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.isLocalEnded) done();
    else this.#carrier.sendData(this, chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#carrier.sendFin(this);
    done();
  }

  override _read(): void {
    this.#received.read();
    this.#carrier.wantsData(this);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#rejectReply(error ?? new StreamResetError(RESET.cancel));
    const status = error instanceof StreamResetError ? error.status : RESET.cancel;
    this.#carrier.sendReset(this, status);
    done(error);
  }
}
