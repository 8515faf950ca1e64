import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../request/api-request.ts';
import { type HeaderLine, linesFrom } from '../request/header-lines.ts';
import { certificateOf } from './client-certificate.ts';
import type { Exchange, ResponseStream } from './exchange.ts';
import { type ReadLimits, readLimited } from './read-limited.ts';
import type { UnreadResponses } from './unread-responses.ts';

export class Http1Exchange implements Exchange {
  constructor(
    protected readonly request: IncomingMessage,
    protected readonly response: ServerResponse,
    private readonly unread: UnreadResponses,
  ) {}

  get method(): string {
    return this.request.method ?? 'GET';
  }

  get url(): string {
    return this.request.url ?? '/';
  }

  get remoteAddress(): string {
    return this.request.socket.remoteAddress ?? '';
  }

  get clientCertificate(): ClientCertificate | undefined {
    return certificateOf(this.request.socket as TLSSocket);
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headerLines(prefix: string): readonly HeaderLine[] {
    return linesFrom(this.request.rawHeaders, prefix);
  }

  readBody(limits: ReadLimits): Promise<Buffer> {
    return readLimited(this.request, this.header('content-length'), limits);
  }

  bodyStream(): Readable {
    return this.request;
  }

  upgrade(_headers: Record<string, string | string[]>): Duplex | undefined {
    return undefined;
  }

  onAbandoned(callback: () => void): void {
    this.response.once('close', () => {
      if (!this.response.writableFinished) callback();
    });
  }

  leaveConnection(): void {}

  abandon(): void {
    const { response, request } = this;
    if (response.headersSent && !response.writableEnded) request.socket.destroy();
    else request.socket.destroySoon();
  }

  respond(code: number, headers: Record<string, string | string[]>, body: Buffer | string): void {
    // An unread body would be parsed as the next request.
    if (!this.request.complete) headers.connection = 'close';
    this.response.writeHead(code, { ...headers, 'content-length': Buffer.byteLength(body) });
    this.response.end(this.request.method === 'HEAD' ? undefined : body);
    if (!this.response.writableFinished) this.#holdUntilSent(body);
    readThroughStream(this.request);
  }

  #holdUntilSent(body: Buffer | string): void {
    const release = this.unread.hold(this.request.socket, body);
    if (release !== undefined) this.response.once('close', release);
  }

  async respondInChunks(headers: Record<string, string | string[]>, length: number, chunks: Iterable<Buffer>): Promise<void> {
    const { response, request } = this;
    if (!request.complete) headers.connection = 'close';
    response.writeHead(200, { ...headers, 'content-length': length });
    readThroughStream(request, length);
    if (request.method !== 'HEAD') for (const chunk of chunks) if (!(await written(response, chunk))) return;
    response.end();
  }

  stream(code: number, headers: Record<string, string | string[]>): ResponseStream {
    const { response } = this;
    response.writeHead(code, headers);
    response.flushHeaders();
    return {
      write: (chunk) => void response.write(chunk),
      end: (done) => endStream(response, done),
      destroy: () => void response.destroy(),
      get pending() {
        return response.writableLength;
      },
      drained: () => waitForDrain(response),
    };
  }
}

/**
 * Makes the connection pass data to the HTTP parser through its stream while a response is pending. By default Node reads from TLS
 * directly, and pauses the parser for a request that arrives meanwhile; but TLS continues with its buffered records, and the paused parser
 * fails: the client's next request of two records (16 KiB) or more would be reset.
 */
function readThroughStream({ socket }: IncomingMessage, length = 0): void {
  if (!socket.writableNeedDrain && length < socket.writableHighWaterMark) return;
  const noop = () => {};
  // Any 'data' listener makes Node do this for the lifetime of the connection.
  socket.on('data', noop);
  socket.off('data', noop);
}

/** Ends the stream. `done` is called once, after the data was sent or the client disconnected: a destroyed stream never finishes. */
export function endStream(stream: Writable, done: () => void = () => {}): void {
  if (stream.destroyed) {
    done();
    return;
  }
  const finish = () => {
    stream.off('finish', finish);
    stream.off('close', finish);
    done();
  };
  stream.once('finish', finish);
  stream.once('close', finish);
  stream.end();
}

/** Writes a chunk; resolves to false if the client disconnected. */
export function written(stream: Writable, chunk: Buffer): Promise<boolean> {
  if (stream.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = () => resolve(false);
    stream.once('close', onClose);
    stream.write(chunk, (error) => {
      stream.off('close', onClose);
      resolve(!error && !stream.destroyed);
    });
  });
}

export function waitForDrain(stream: {
  writableNeedDrain: boolean;
  destroyed: boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
}): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.once('drain', done);
    stream.once('close', done);
  });
}
