import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../request/api-request.ts';
import { type HeaderLine, linesFrom } from '../request/header-lines.ts';
import { certificateOf } from './client-certificate.ts';
import type { Exchange, ResponseStream } from './exchange.ts';
import { readLimited } from './read-limited.ts';

export class Http1Exchange implements Exchange {
  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
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

  readBody(limit: number): Promise<Buffer> {
    return readLimited(this.request, this.header('content-length'), limit);
  }

  onAbandoned(callback: () => void): void {
    this.response.once('close', () => {
      if (!this.response.writableFinished) callback();
    });
  }

  abandon(): void {
    this.request.socket.destroySoon();
  }

  respond(code: number, headers: Record<string, string | string[]>, body: Buffer | string): void {
    // A body that was not read would be taken for the next request.
    if (!this.request.complete) headers.connection = 'close';
    this.response.writeHead(code, { ...headers, 'content-length': Buffer.byteLength(body) });
    this.response.end(this.request.method === 'HEAD' ? undefined : body);
  }

  async respondInChunks(headers: Record<string, string | string[]>, length: number, chunks: Iterable<Buffer>): Promise<void> {
    const { response, request } = this;
    if (!request.complete) headers.connection = 'close';
    response.writeHead(200, { ...headers, 'content-length': length });
    if (request.method !== 'HEAD') for (const chunk of chunks) if (!(await written(response, chunk))) return;
    response.end();
  }

  stream(code: number, headers: Record<string, string | string[]>): ResponseStream {
    const { response } = this;
    response.writeHead(code, headers);
    response.flushHeaders();
    return {
      write: (chunk) => void response.write(chunk),
      end: () => void response.end(),
      get pending() {
        return response.writableLength;
      },
      drained: () => drained(response),
    };
  }
}

/** Writes a chunk and resolves when it has left; false when the client is gone. */
export function written(stream: Writable, chunk: Buffer): Promise<boolean> {
  if (stream.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const gone = () => resolve(false);
    stream.once('close', gone);
    stream.write(chunk, (error) => {
      stream.off('close', gone);
      resolve(!error && !stream.destroyed);
    });
  });
}

export function drained(stream: {
  writableNeedDrain: boolean;
  destroyed: boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
}): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('drain', resolve);
    stream.once('close', resolve);
  });
}
