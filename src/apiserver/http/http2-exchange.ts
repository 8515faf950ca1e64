import { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { ChunkList, HTTP2_ERROR, type ServerConnection, type ServerStream } from '#base';
import { StatusError } from '#machinery';
import type { ClientCertificate } from '../request/api-request.ts';
import type { HeaderLine } from '../request/header-lines.ts';
import { certificateOf } from './client-certificate.ts';
import type { ConnectionDeps, Exchange, ResponseStream } from './exchange.ts';
import { bodyTooLarge, type ReadLimits } from './read-limited.ts';

type Headers = Record<string, string | string[]>;

export class Http2Exchange implements Exchange {
  constructor(
    private readonly http2Stream: ServerStream,
    private readonly connection: ServerConnection,
    private readonly deps: ConnectionDeps,
  ) {}

  get method(): string {
    return this.http2Stream.headers.method;
  }

  get url(): string {
    return this.http2Stream.headers.path;
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? '';
  }

  get clientCertificate(): ClientCertificate | undefined {
    return certificateOf(this.#socket);
  }

  get #socket(): TLSSocket {
    return this.connection.socket as TLSSocket;
  }

  header(name: string): string | undefined {
    return this.http2Stream.headers.value(name);
  }

  headerLines(prefix: string): readonly HeaderLine[] {
    return this.http2Stream.headers.fields.filter(({ name }) => name.startsWith(prefix));
  }

  readBody(limits: ReadLimits): Promise<Buffer> {
    return readBody(this.http2Stream, limits);
  }

  bodyStream(): Readable {
    return bodyStream(this.http2Stream);
  }

  /** HTTP/2 has no upgrades. */
  upgrade(): undefined {
    return undefined;
  }

  onAbandoned(callback: () => void): void {
    this.http2Stream.onClose((isComplete) => {
      if (!isComplete) callback();
    });
  }

  leaveConnection(): void {
    this.connection.close();
  }

  /** A complete response that waits for the client is left to it. */
  abandon(): void {
    if (this.http2Stream.isOpenEnded) this.http2Stream.reset(HTTP2_ERROR.CANCEL);
  }

  respond(code: number, headers: Headers, body: Buffer | string): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const { http2Stream } = this;
    http2Stream.respond(code, this.#complete(headers, bytes.length), this.#hasNoBody(code) ? undefined : bytes);
    const release = http2Stream.pending > 0 ? this.deps.unread.hold(this.#socket, bytes) : undefined;
    if (release !== undefined) http2Stream.onClose(release);
  }

  async respondInChunks(headers: Headers, length: number, chunks: Iterable<Buffer>): Promise<void> {
    const { http2Stream } = this;
    const all = this.#complete(headers, length);
    if (this.#hasNoBody(200)) return http2Stream.respond(200, all, undefined);
    http2Stream.begin(200, all);
    for (const chunk of chunks) {
      http2Stream.write(chunk);
      if (http2Stream.pending > 0) {
        const release = this.deps.unread.hold(this.#socket, chunk);
        await http2Stream.drained();
        release?.();
      }
      if (http2Stream.isClosed) return;
    }
    http2Stream.end();
  }

  stream(code: number, headers: Headers): ResponseStream {
    headers.date = this.deps.date.value;
    this.http2Stream.begin(code, headers);
    return new Http2ResponseStream(this.http2Stream);
  }

  #complete(headers: Headers, length: number): Headers {
    headers['content-length'] = String(length);
    headers.date = this.deps.date.value;
    return headers;
  }

  #hasNoBody(code: number): boolean {
    return code === 204 || code === 304 || this.method === 'HEAD';
  }
}

class Http2ResponseStream implements ResponseStream {
  constructor(private readonly http2Stream: ServerStream) {}

  get pending(): number {
    return this.http2Stream.pending;
  }

  write(chunk: Buffer): void {
    this.http2Stream.write(chunk);
  }

  end(done?: () => void): void {
    if (done !== undefined) this.http2Stream.onClose(done);
    this.http2Stream.end();
  }

  destroy(): void {
    this.http2Stream.reset(HTTP2_ERROR.CANCEL);
  }

  drained(): Promise<void> {
    return this.http2Stream.drained();
  }
}

/** Reads a whole body, or rejects as soon as it is too large; the rest is discarded. */
function readBody(stream: ServerStream, { limit, count }: ReadLimits): Promise<Buffer> {
  if ((stream.headers.contentLength ?? 0) > limit) return Promise.reject(bodyTooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks = new ChunkList();
    const giveUp = (error: unknown) => {
      chunks.clear();
      reject(error);
    };
    let isOver = false;
    stream.receive({
      data(chunk) {
        stream.consumed(chunk.length);
        if (isOver) return;
        try {
          if (chunks.bytes + chunk.length > limit) throw bodyTooLarge(limit);
          count?.(chunk.length);
          chunks.push(chunk);
        } catch (error) {
          isOver = true;
          giveUp(error);
        }
      },
      end: () => resolve(chunks.whole()),
      aborted: () => giveUp(StatusError.badRequest('unexpected EOF')),
    });
  });
}

/** Reading opens the flow-control window again. */
function bodyStream(stream: ServerStream): Readable {
  let waiting = 0;
  const consume = () => {
    stream.consumed(waiting);
    waiting = 0;
  };
  const body = new Readable({ read: consume });
  body.on('error', () => {});
  stream.receive({
    data(chunk) {
      waiting += chunk.length;
      if (body.destroyed || body.push(chunk)) consume();
    },
    end: () => void body.push(null),
    aborted: () => void body.destroy(StatusError.badRequest('unexpected EOF')),
  });
  return body;
}
