import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { onAbort } from '../async/abort.ts';
import type { Clock, TimerHandle } from '../time/clock.ts';
import { FrameReader, frame } from './frames.ts';
import { GrpcError, grpcStatus } from './grpc-error.ts';
import { waitForDrain } from './wait-for-drain.ts';

/** A stream of messages in both directions. */
export interface GrpcStream {
  send(message: Uint8Array): void;
  /** Resolves when the server has received most of what was sent, or the stream has ended: await it when sending much. */
  drained(): Promise<void>;
  /** Half-closes the stream. */
  finish(): void;
  /** Pauses the server until `resume`. */
  pause(): void;
  resume(): void;
  cancel(): void;
}

export interface StreamHandler {
  message(message: Buffer): void;
  /** Called once, last. Without an error the stream ended normally. */
  end(error: GrpcError | undefined): void;
  /** Called instead of `end` if the call's signal aborted, with its reason. */
  aborted?(reason: unknown): void;
}

export interface StreamOwner {
  readonly endpoint: string;
  readonly maxMessageBytes: number;
  /** A sign of life from the server. */
  markAlive(): void;
  /** The server certainly did not process the request. */
  neverReached(stream: ClientHttp2Stream): boolean;
}

export interface MessageStreamOptions {
  readonly owner: StreamOwner;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** One call: splits incoming data into messages, and converts its end to a gRPC status. */
export class MessageStream implements GrpcStream {
  readonly #stream: ClientHttp2Stream;
  readonly #handler: StreamHandler;
  readonly #owner: StreamOwner;
  readonly #frames: FrameReader;
  #deadline: TimerHandle | undefined;
  #abort: Disposable | undefined;
  #trailers: IncomingHttpHeaders | undefined;
  #ended = false;

  constructor(stream: ClientHttp2Stream, handler: StreamHandler, { owner, clock, timeoutMs, signal }: MessageStreamOptions) {
    this.#stream = stream;
    this.#handler = handler;
    this.#owner = owner;
    this.#frames = new FrameReader(owner.maxMessageBytes);
    this.#listen();
    if (Number.isFinite(timeoutMs)) this.#deadline = clock.setTimer(timeoutMs, () => this.#timedOut(timeoutMs));
    if (signal !== undefined)
      this.#abort = onAbort(signal, (reason) => {
        this.cancel();
        handler.aborted?.(reason);
      });
  }

  send(message: Uint8Array): void {
    if (message.length > this.#owner.maxMessageBytes) {
      this.#fail(
        new GrpcError(
          grpcStatus.resourceExhausted,
          `trying to send message larger than max (${message.length} vs. ${this.#owner.maxMessageBytes})`,
          { untouched: true },
        ),
      );
    } else if (!this.#ended) this.#stream.write(frame(message));
  }

  drained(): Promise<void> {
    if (this.#ended || !this.#stream.writableNeedDrain) return Promise.resolve();
    return waitForDrain(this.#stream);
  }

  finish(): void {
    if (!this.#stream.destroyed) this.#stream.end();
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    this.#settle();
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #listen(): void {
    const stream = this.#stream;
    stream.on('response', (headers, flags) => {
      this.#owner.markAlive();
      // A trailers-only response has the status in its headers.
      if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#finished(headers);
      else this.#checkResponse(headers);
    });
    stream.on('data', (chunk: Buffer) => {
      this.#owner.markAlive();
      this.#take(chunk);
    });
    // Data received before the trailers may still be unread.
    stream.on('trailers', (headers) => {
      this.#trailers = headers;
    });
    stream.on('end', () => {
      if (this.#trailers !== undefined) this.#finished(this.#trailers);
    });
    stream.on('error', (cause: Error) => this.#end(this.#broken(cause)));
    stream.on('close', () => this.#end(this.#broken(new Error('the stream ended early'))));
  }

  #timedOut(timeoutMs: number): void {
    this.#fail(new GrpcError(grpcStatus.deadlineExceeded, `${this.#owner.endpoint} did not answer within ${timeoutMs} ms`));
  }

  #broken(cause: Error): GrpcError {
    return new GrpcError(grpcStatus.unavailable, cause.message, { untouched: this.#owner.neverReached(this.#stream), cause });
  }

  #checkResponse(headers: IncomingHttpHeaders): void {
    const type = headers['content-type'] ?? '';
    if (Number(headers[':status']) === constants.HTTP_STATUS_OK && type.startsWith('application/grpc')) return;
    this.#fail(httpError(headers));
  }

  #take(chunk: Buffer): void {
    try {
      for (const message of this.#frames.take(chunk)) {
        if (this.#ended) return;
        this.#handler.message(message);
      }
    } catch (cause) {
      // Of the frames, or of a handler that cannot read the message: either way it is this call that fails.
      const text = cause instanceof Error ? cause.message : String(cause);
      this.#fail(cause instanceof GrpcError ? cause : new GrpcError(grpcStatus.internal, text, { cause }));
    }
  }

  #finished(headers: IncomingHttpHeaders): void {
    const status = headers['grpc-status'];
    if (status === undefined) this.#end(httpError(headers));
    else if (Number(status) !== grpcStatus.ok) this.#end(new GrpcError(Number(status), statusMessage(headers)));
    else if (!this.#frames.isComplete) this.#end(new GrpcError(grpcStatus.internal, 'malformed frame: the last message is cut off'));
    else this.#end(undefined);
  }

  /** Cancels the call. */
  #fail(error: GrpcError): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#end(error);
  }

  #end(error: GrpcError | undefined): void {
    if (this.#ended) return;
    this.#settle();
    this.#handler.end(error);
  }

  #settle(): void {
    this.#ended = true;
    this.#deadline?.cancel();
    this.#abort?.[Symbol.dispose]();
  }
}

function statusMessage(headers: IncomingHttpHeaders): string {
  const text = String(headers['grpc-message'] ?? `status ${String(headers['grpc-status'])}`);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The gRPC error for a response that is not gRPC. */
const BY_HTTP_STATUS: ReadonlyMap<number, number> = new Map([
  [400, grpcStatus.internal],
  [401, grpcStatus.unauthenticated],
  [403, grpcStatus.permissionDenied],
  [404, grpcStatus.unimplemented],
  [429, grpcStatus.unavailable],
  [502, grpcStatus.unavailable],
  [503, grpcStatus.unavailable],
  [504, grpcStatus.unavailable],
]);

function httpError(headers: IncomingHttpHeaders): GrpcError {
  const status = Number(headers[':status']);
  const type = headers['content-type'] ?? 'no content type';
  return new GrpcError(BY_HTTP_STATUS.get(status) ?? grpcStatus.unknown, `not a gRPC response: HTTP status ${status}, ${type}`);
}
