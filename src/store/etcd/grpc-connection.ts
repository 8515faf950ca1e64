import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock, TimerHandle } from '#base';
import { GrpcError, grpcStatus } from './grpc-error.ts';

/** What TLS needs, as PEM. */
export interface EtcdTls {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that the server's certificate must bear, when it is not the endpoint's. */
  readonly serverName?: string;
}

export interface ConnectionOptions {
  /** `http://host:port` or `https://host:port`. */
  readonly endpoint: string;
  readonly tls?: EtcdTls | undefined;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  /** A ping is sent after this much silence, and answered within as much, or the connection is given up. */
  readonly keepAliveMs: number;
  /** Nothing of the connection is left. */
  readonly onClose?: (connection: GrpcConnection) => void;
}

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A stream of messages in both directions. */
export interface GrpcStream {
  send(message: Buffer): void;
  /** No more will be sent. */
  finish(): void;
  /** Lets the server wait until `resume`. */
  pause(): void;
  resume(): void;
  cancel(): void;
}

export interface StreamHandler {
  message(message: Buffer): void;
  /** Called once, last. No error: the server ended the stream as it should. */
  end(error: GrpcError | undefined): void;
}

const FRAME_HEAD_BYTES = 5;
const WINDOW_BYTES = 16 << 20;
/** In megabytes; answers may be large, and are bounded by the requests. */
const SESSION_MEMORY = 1_000;

/** gRPC over one HTTP/2 connection to one endpoint. */
export class GrpcConnection implements StreamOwner {
  readonly endpoint: string;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  #timer: TimerHandle | undefined;
  #heard = true;
  #everConnected = false;
  #retired = false;
  #lastStream = Number.POSITIVE_INFINITY;
  #failure: Error | undefined;

  constructor(options: ConnectionOptions) {
    this.endpoint = options.endpoint;
    this.#options = options;
    this.#socket = openSocket(options);
    this.#session = connect(options.endpoint, {
      createConnection: () => this.#socket,
      maxSessionMemory: SESSION_MEMORY,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    });
    // A session does not end by itself when the server turns down the client's certificate.
    this.#socket.on('error', (error) => this.#destroy(error));
    this.#session.on('error', (error: Error) => this.#fail(error));
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

  close(): void {
    this.#destroy(new Error('the connection was closed'));
  }

  /** Takes no more requests; those under way go on, and keep-alive watches over them. */
  retire(): void {
    this.#retired = true;
    this.#session.close();
  }

  /** One request, one answer. */
  call(method: string, message: Buffer, options: CallOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const stream = this.stream(method, {
        handler: {
          message(bytes) {
            answer = bytes;
          },
          end(error) {
            done();
            if (error !== undefined) reject(error);
            else if (answer === undefined) reject(new GrpcError(grpcStatus.internal, 'the server gave no answer'));
            else resolve(answer);
          },
        },
        timeoutMs: options.timeoutMs,
      });
      const abort = () => {
        done();
        stream.cancel();
        reject(options.signal?.reason);
      };
      const timer = this.#options.clock.setTimer(options.timeoutMs, () => {
        done();
        stream.cancel();
        reject(new GrpcError(grpcStatus.deadlineExceeded, `${this.endpoint} did not answer within ${options.timeoutMs} ms`));
      });
      const done = () => {
        timer.cancel();
        options.signal?.removeEventListener('abort', abort);
      };
      options.signal?.addEventListener('abort', abort, { once: true });
      stream.send(message);
      stream.finish();
    });
  }

  stream(method: string, options: { readonly handler: StreamHandler; readonly timeoutMs?: number }): GrpcStream {
    const headers = {
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: `/etcdserverpb.${method}`,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
      // A member without a leader refuses at once, where it would otherwise keep the caller waiting.
      hasleader: 'true',
      ...(options.timeoutMs === undefined ? {} : { 'grpc-timeout': `${options.timeoutMs}m` }),
    };
    if (this.#failure !== undefined || this.#session.destroyed)
      return failedStream(options.handler, this.#failure ?? new Error('the connection is closed'));
    const stream = this.#session.request(headers, { endStream: false });
    return new MessageStream(stream, options.handler, this).asStream();
  }

  #connected(): void {
    this.#everConnected = true;
    this.#session.setLocalWindowSize(WINDOW_BYTES);
    this.#timer?.cancel();
    this.#keepAlive();
  }

  #keepAlive(): void {
    if (this.#failure !== undefined) return;
    this.#heard = false;
    this.#timer = this.#options.clock.setTimer(this.#options.keepAliveMs, () => {
      if (this.#heard) this.#keepAlive();
      else this.#ping();
    });
  }

  #ping(): void {
    if (this.#session.destroyed) return;
    this.#timer = this.#options.clock.setTimer(this.#options.keepAliveMs, () => this.#destroy(new Error('the server does not answer')));
    this.#session.ping((error) => {
      this.#timer?.cancel();
      if (error === null) this.#keepAlive();
    });
  }

  heard(): void {
    this.#heard = true;
  }

  neverReached(stream: ClientHttp2Stream): boolean {
    if (!this.#everConnected || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return true;
    // A server that goes away names the last request it will look at.
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

function openSocket({ endpoint, tls }: ConnectionOptions): Socket {
  const { protocol, hostname, port } = new URL(endpoint);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connectTcp(Number(port || 80), host);
  const name = tls?.serverName ?? (isIP(host) === 0 ? host : undefined);
  return connectTls({
    host,
    port: Number(port || 443),
    ALPNProtocols: ['h2'],
    ...(name === undefined ? {} : { servername: name }),
    ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls?.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls?.key === undefined ? {} : { key: tls.key }),
  });
}

function failedStream(handler: StreamHandler, cause: Error): GrpcStream {
  queueMicrotask(() => handler.end(new GrpcError(grpcStatus.unavailable, cause.message, { untouched: true, cause })));
  return { send() {}, finish() {}, pause() {}, resume() {}, cancel() {} };
}

interface StreamOwner {
  /** The server lives. */
  heard(): void;
  /** Certain: the server has not acted on the request. */
  neverReached(stream: ClientHttp2Stream): boolean;
}

/** Cuts a stream of bytes into messages, and makes of its end what gRPC means by it. */
class MessageStream {
  readonly #stream: ClientHttp2Stream;
  readonly #handler: StreamHandler;
  readonly #connection: StreamOwner;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes that make the next message complete. */
  #wanted = FRAME_HEAD_BYTES;
  #trailers: IncomingHttpHeaders | undefined;
  #ended = false;

  constructor(stream: ClientHttp2Stream, handler: StreamHandler, connection: StreamOwner) {
    this.#stream = stream;
    this.#handler = handler;
    this.#connection = connection;
    stream.on('response', (headers, flags) => {
      connection.heard();
      // An answer of headers alone carries the status in them.
      if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#finish(headers);
    });
    stream.on('data', (chunk: Buffer) => {
      connection.heard();
      this.#take(chunk);
    });
    // What came before the trailers may still wait to be read.
    stream.on('trailers', (headers) => {
      this.#trailers = headers;
    });
    stream.on('end', () => {
      if (this.#trailers !== undefined) this.#finish(this.#trailers);
    });
    stream.on('error', (cause: Error) => this.#end(this.#broken(cause)));
    stream.on('close', () => this.#end(this.#broken(new Error('the stream ended early'))));
  }

  asStream(): GrpcStream {
    return {
      send: (message) => void this.#stream.write(frame(message)),
      finish: () => void this.#stream.end(),
      pause: () => void this.#stream.pause(),
      resume: () => void this.#stream.resume(),
      cancel: () => {
        this.#ended = true;
        this.#stream.close(constants.NGHTTP2_CANCEL);
      },
    };
  }

  #broken(cause: Error): GrpcError {
    return new GrpcError(grpcStatus.unavailable, cause.message, { untouched: this.#connection.neverReached(this.#stream), cause });
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return;
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    for (;;) {
      this.#wanted = rest.length < FRAME_HEAD_BYTES ? FRAME_HEAD_BYTES : FRAME_HEAD_BYTES + rest.readUInt32BE(1);
      if (rest.length < this.#wanted || this.#ended) break;
      const message = rest.subarray(FRAME_HEAD_BYTES, this.#wanted);
      rest = rest.subarray(this.#wanted);
      this.#handler.message(message);
    }
    this.#chunks = [rest];
    this.#length = rest.length;
  }

  #finish(headers: IncomingHttpHeaders): void {
    const status = Number(headers['grpc-status'] ?? grpcStatus.unknown);
    const message = decodeURIComponent(String(headers['grpc-message'] ?? `status ${String(headers[':status'])}`));
    this.#end(status === grpcStatus.ok ? undefined : new GrpcError(status, message));
  }

  #end(error: GrpcError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#handler.end(error);
  }
}

function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
