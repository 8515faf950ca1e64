import { Duplex } from 'node:stream';
import type { SpdyHeaders } from './header-block.ts';
import { RESET, type SpdyError, StreamResetError } from './spdy-error.ts';

/** What a stream needs of its connection. */
export interface StreamCarrier {
  sendData(stream: SpdyStream, chunk: Buffer, sent: (error?: Error) => void): void;
  sendFin(stream: SpdyStream): void;
  sendReply(stream: SpdyStream, headers: SpdyHeaders): void;
  sendReset(stream: SpdyStream, status: number): void;
  /** The consumer wants more. */
  wantsData(stream: SpdyStream): void;
}

const BUFFER_BYTES = 64 * 1024;

/** One stream of a connection. Its two directions end separately; destroying it resets what has not ended. */
export class SpdyStream extends Duplex {
  /** Bytes that may still be sent, where the peer controls the flow. */
  sendWindow = 0;
  bytesReceived = 0;
  /** Of `bytesReceived`, what the peer knows to be consumed. */
  bytesCredited = 0;
  isReplied: boolean;
  isRemoteEnded = false;
  isLocalEnded = false;
  /** Resolves when the peer accepted the stream; rejects when it did not. */
  readonly replied: Promise<SpdyHeaders>;
  readonly #carrier: StreamCarrier;
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

  /** Accepts a stream that the peer opened. */
  reply(headers: SpdyHeaders = new Map()): void {
    if (this.isReplied || this.destroyed) return;
    this.isReplied = true;
    this.#carrier.sendReply(this, headers);
    this.#resolveReply(headers);
  }

  /** Gives the stream up, or refuses it. */
  reset(status: number = RESET.cancel): void {
    if (this.destroyed) return;
    this.destroy(new StreamResetError(status));
  }

  /** The peer accepted. */
  acceptReply(headers: SpdyHeaders): void {
    this.isReplied = true;
    this.#resolveReply(headers);
  }

  /** The peer wants no more and sends no more: how Go's spdystream closes streams. What is written from now on is dropped. */
  cancelByPeer(): void {
    const wasEnded = this.isRemoteEnded;
    this.isRemoteEnded = true;
    this.isLocalEnded = true;
    this.#rejectReply(new StreamResetError(RESET.cancel));
    if (!wasEnded) this.push(null);
  }

  /** The peer, or the connection, ended the stream before its time. */
  fail(error: StreamResetError | SpdyError): void {
    this.isRemoteEnded = true;
    this.isLocalEnded = true;
    this.destroy(error);
  }

  /** The connection is over. What the peer sent before it ended the stream can still be read, and whoever read all of it sees no error. */
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
    this.#carrier.wantsData(this);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#rejectReply(error ?? new StreamResetError(RESET.cancel));
    const status = error instanceof StreamResetError ? error.status : RESET.cancel;
    this.#carrier.sendReset(this, status);
    done(error);
  }
}
