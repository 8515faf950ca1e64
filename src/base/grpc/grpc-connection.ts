import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { Dialer } from '../egress/dialer.ts';
import type { Clock, TimerHandle } from '../time/clock.ts';
import { type GrpcTls, openSocket } from './endpoint.ts';
import { DEFAULT_MAX_MESSAGE_BYTES } from './frames.ts';
import { GrpcError, grpcStatus } from './grpc-error.ts';
import { type GrpcStream, MessageStream, type StreamHandler, type StreamOwner } from './message-stream.ts';

export interface ConnectionOptions {
  /** `http://host:port`, `https://host:port` or `unix:///path`. */
  readonly endpoint: string;
  readonly tls?: GrpcTls | undefined;
  /** Connects to the endpoint's host. Default: by TCP. */
  readonly dial?: Dialer | undefined;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  /**
   * A ping is sent after this time of silence, and must be answered within the same time. Default: no pings, since most servers close connections
   * that ping more often than every five minutes.
   */
  readonly keepAliveMs?: number | undefined;
  /** Default: 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Headers of every request. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Called once, when the connection is closed. */
  readonly onClose?: (connection: GrpcConnection) => void;
}

export interface CallOptions {
  /** Infinity: no deadline. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Headers of this request. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface StreamOptions extends Partial<CallOptions> {
  readonly handler: StreamHandler;
}

const WINDOW_BYTES = 16 << 20;
/** In megabytes; large enough for responses, which are limited by the message size. */
const SESSION_MEMORY = 1_000;

/** gRPC over one HTTP/2 connection to one endpoint. Methods are named `package.Service/Method`. */
export class GrpcConnection implements StreamOwner {
  readonly endpoint: string;
  readonly maxMessageBytes: number;
  readonly #options: ConnectionOptions;
  readonly #socket: Duplex;
  readonly #session: ClientHttp2Session;
  #timer: TimerHandle | undefined;
  #isAlive = true;
  #everConnected = false;
  #retired = false;
  #lastStream = Number.POSITIVE_INFINITY;
  #failure: Error | undefined;

  constructor(options: ConnectionOptions) {
    this.endpoint = options.endpoint;
    this.maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#options = options;
    this.#socket = openSocket(options.endpoint, options.tls, options.dial);
    this.#session = connect(options.endpoint.startsWith('unix:') ? 'http://localhost' : options.endpoint, {
      createConnection: () => this.#socket,
      maxSessionMemory: SESSION_MEMORY,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    });
    // A session does not end by itself if the server rejects the client's certificate.
    this.#socket.on('error', (error) => this.#destroy(error));
    this.#session.on('error', (error: Error) => this.#destroy(error));
    this.#session.on('goaway', (_code, lastStream) => {
      this.#lastStream = lastStream;
      this.#fail(new Error('the server is going away'));
    });
    this.#session.on('close', () => {
      this.#fail(new Error('the connection is closed'));
      options.onClose?.(this);
    });
    this.#session.on('connect', () => this.#connected());
    this.#timer = options.clock.setTimer(options.connectTimeoutMs, () => this.#destroy(new Error('connecting took too long')));
  }

  get usable(): boolean {
    return this.#failure === undefined && !this.#retired;
  }

  /** Whether the server was reached, and why the connection became unusable. */
  get everConnected(): boolean {
    return this.#everConnected;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  close(): void {
    this.#destroy(new Error('the connection was closed'));
  }

  /** Accepts no new requests; active ones continue, monitored by keep-alive. */
  retire(): void {
    this.#retired = true;
    this.#session.close();
  }

  /** One request, one response. */
  call(method: string, message: Uint8Array, options: CallOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let response: Buffer | undefined;
      let isMalformed = false;
      const stream = this.stream(method, {
        ...options,
        handler: {
          message(bytes) {
            isMalformed = response !== undefined;
            response = bytes;
          },
          end(error) {
            if (error !== undefined) reject(error);
            else if (response === undefined) reject(new GrpcError(grpcStatus.internal, 'the server sent no response'));
            else if (isMalformed) reject(new GrpcError(grpcStatus.internal, 'the server sent several responses to one request'));
            else resolve(response);
          },
          aborted: reject,
        },
      });
      stream.send(message);
      stream.finish();
    });
  }

  /** A stream in both directions. The handler's `end` is called once, unless the caller cancels. */
  stream(method: string, options: StreamOptions): GrpcStream {
    const { handler, signal, timeoutMs = Number.POSITIVE_INFINITY } = options;
    if (signal?.aborted) return failedStream(() => handler.aborted?.(signal.reason));
    if (this.#failure !== undefined || this.#session.destroyed || this.#session.closed) return this.#failedStream(handler);
    const stream = this.#session.request(this.#headers(method, options), { endStream: false });
    // Node servers never restore the flow-control window of cancelled responses: they would refuse every later call on this connection.
    stream.once('close', () => stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM && this.retire());
    return new MessageStream(stream, handler, { owner: this, clock: this.#options.clock, timeoutMs, signal });
  }

  #headers(method: string, { timeoutMs = Number.POSITIVE_INFINITY, metadata }: StreamOptions): OutgoingHttpHeaders {
    return {
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: `/${method}`,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
      ...this.#options.metadata,
      ...metadata,
      ...(Number.isFinite(timeoutMs) && { 'grpc-timeout': timeoutHeader(timeoutMs) }),
    };
  }

  #failedStream(handler: StreamHandler): GrpcStream {
    const cause = this.#failure ?? new Error('the connection is closed');
    return failedStream(() => handler.end(new GrpcError(grpcStatus.unavailable, cause.message, { untouched: true, cause })));
  }

  #connected(): void {
    this.#everConnected = true;
    this.#session.setLocalWindowSize(WINDOW_BYTES);
    this.#timer?.cancel();
    this.#keepAlive();
  }

  #keepAlive(): void {
    const { keepAliveMs, clock } = this.#options;
    if (this.#failure !== undefined || keepAliveMs === undefined) return;
    this.#isAlive = false;
    this.#timer = clock.setTimer(keepAliveMs, () => {
      if (this.#isAlive) this.#keepAlive();
      else this.#ping(keepAliveMs);
    });
  }

  #ping(timeoutMs: number): void {
    if (this.#session.destroyed) return;
    this.#timer = this.#options.clock.setTimer(timeoutMs, () => this.#destroy(new Error('the server does not answer')));
    this.#session.ping((error) => {
      this.#timer?.cancel();
      if (error === null) this.#keepAlive();
    });
  }

  markAlive(): void {
    this.#isAlive = true;
  }

  neverReached(stream: ClientHttp2Stream): boolean {
    if (!this.#everConnected || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return true;
    // GOAWAY has the id of the last request that the server will process.
    return stream.id !== undefined && stream.id > this.#lastStream;
  }

  #destroy(error: Error): void {
    this.#fail(error);
    this.#session.destroy();
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#timer?.cancel();
  }
}

/** gRPC allows eight digits. */
function timeoutHeader(timeoutMs: number): string {
  return timeoutMs < 1e8 ? `${Math.ceil(timeoutMs)}m` : `${Math.min(99_999_999, Math.ceil(timeoutMs / 1000))}S`;
}

function failedStream(fail: () => void): GrpcStream {
  queueMicrotask(fail);
  return { send() {}, finish() {}, pause() {}, resume() {}, cancel() {}, drained: () => Promise.resolve() };
}
