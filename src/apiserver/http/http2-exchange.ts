import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../request/api-request.ts';
import { type HeaderLine, linesFrom } from '../request/header-lines.ts';
import { certificateOf } from './client-certificate.ts';
import type { Exchange, ResponseStream } from './exchange.ts';
import { endStream, waitForDrain, written } from './http1-exchange.ts';
import { type ReadLimits, readLimited } from './read-limited.ts';

const CANCEL = constants.NGHTTP2_CANCEL;

export class Http2Exchange implements Exchange {
  constructor(
    private readonly http2Stream: ServerHttp2Stream,
    private readonly headers: IncomingHttpHeaders,
    private readonly socket: TLSSocket,
    private readonly rawHeaders: readonly string[],
  ) {}

  get method(): string {
    return (this.headers[':method'] as string | undefined) ?? 'GET';
  }

  get url(): string {
    return (this.headers[':path'] as string | undefined) ?? '/';
  }

  get remoteAddress(): string {
    return this.socket.remoteAddress ?? '';
  }

  get clientCertificate(): ClientCertificate | undefined {
    return certificateOf(this.socket);
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headerLines(prefix: string): readonly HeaderLine[] {
    return linesFrom(this.rawHeaders, prefix);
  }

  readBody(limits: ReadLimits): Promise<Buffer> {
    return readLimited(this.http2Stream, this.header('content-length'), limits);
  }

  bodyStream(): Readable {
    return this.http2Stream;
  }

  /** HTTP/2 has no upgrades. */
  upgrade(): undefined {
    return undefined;
  }

  onAbandoned(callback: () => void): void {
    const { http2Stream } = this;
    http2Stream.once('close', () => {
      if (!http2Stream.writableFinished || http2Stream.rstCode !== 0) callback();
    });
  }

  leaveConnection(): void {
    this.http2Stream.session?.close();
  }

  abandon(): void {
    const { http2Stream } = this;
    if (http2Stream.writableFinished || http2Stream.destroyed) http2Stream.close();
    else if (http2Stream.headersSent && !http2Stream.writableEnded) http2Stream.close(CANCEL);
    else http2Stream.once('finish', () => http2Stream.close());
  }

  respond(code: number, headers: Record<string, string | string[]>, body: Buffer | string): void {
    const { http2Stream } = this;
    if (http2Stream.destroyed || http2Stream.closed) return;
    const head = { ':status': code, ...headers, 'content-length': Buffer.byteLength(body) };
    if (this.method === 'HEAD') http2Stream.respond(head, { endStream: true });
    else {
      http2Stream.respond(head);
      http2Stream.end(body);
    }
  }

  async respondInChunks(headers: Record<string, string | string[]>, length: number, chunks: Iterable<Buffer>): Promise<void> {
    const { http2Stream } = this;
    if (http2Stream.destroyed || http2Stream.closed) return;
    const isHead = this.method === 'HEAD';
    http2Stream.respond({ ':status': 200, ...headers, 'content-length': length }, { endStream: isHead });
    if (isHead) return;
    for (const chunk of chunks) if (!(await written(http2Stream, chunk))) return;
    http2Stream.end();
  }

  stream(code: number, headers: Record<string, string | string[]>): ResponseStream {
    const { http2Stream } = this;
    if (!http2Stream.destroyed) http2Stream.respond({ ':status': code, ...headers });
    return {
      write: (chunk) => void (http2Stream.destroyed || http2Stream.write(chunk)),
      end: (done) => endStream(http2Stream, done),
      destroy: () => http2Stream.close(CANCEL),
      get pending() {
        return http2Stream.writableLength;
      },
      drained: () => waitForDrain(http2Stream),
    };
  }
}
