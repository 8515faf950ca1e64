import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../request/api-request.ts';
import { type HeaderLine, linesFrom } from '../request/header-lines.ts';
import { certificateOf } from './client-certificate.ts';
import type { Exchange, ResponseStream } from './exchange.ts';
import { drained, written } from './http1-exchange.ts';
import { readLimited } from './read-limited.ts';

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

  readBody(limit: number): Promise<Buffer> {
    return readLimited(this.http2Stream, this.header('content-length'), limit);
  }

  onAbandoned(callback: () => void): void {
    const { http2Stream } = this;
    http2Stream.once('close', () => {
      if (!http2Stream.writableFinished || http2Stream.rstCode !== 0) callback();
    });
  }

  abandon(): void {
    const { http2Stream } = this;
    if (http2Stream.writableFinished || http2Stream.destroyed) http2Stream.close();
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
      end: () => void http2Stream.end(),
      get pending() {
        return http2Stream.writableLength;
      },
      drained: () => drained(http2Stream),
    };
  }
}
