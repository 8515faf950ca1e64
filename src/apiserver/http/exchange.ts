import type { Duplex, Readable } from 'node:stream';
import type { ClientCertificate } from '../request/api-request.ts';
import type { HeaderLine } from '../request/header-lines.ts';
import type { HttpDate } from './http-date.ts';
import type { ReadLimits } from './read-limited.ts';
import type { UnreadResponses } from './unread-responses.ts';

/** What the exchanges of a listener share. */
export interface ConnectionDeps {
  readonly date: HttpDate;
  readonly unread: UnreadResponses;
}

/** One HTTP request and response, over HTTP/1.1 or HTTP/2. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly remoteAddress: string;
  readonly clientCertificate: ClientCertificate | undefined;
  header(name: string): string | undefined;
  /** All header lines whose name begins with `prefix`, in order. */
  headerLines(prefix: string): readonly HeaderLine[];
  /** The whole body. Rejects with a StatusError (413) beyond the limit. */
  readBody(limits: ReadLimits): Promise<Buffer>;
  /** The raw body, for proxying. */
  bodyStream(): Readable;
  /** Called once if the client disconnects before the response is complete. */
  onAbandoned(callback: () => void): void;
  /** Sends GOAWAY (HTTP/2 only). */
  leaveConnection(): void;
  /** Stops reading from the client. */
  abandon(): void;
  /** Sends a complete response. */
  respond(code: number, headers: Record<string, string | string[]>, body: Buffer | string): void;
  /** Sends a complete response (200) of `length` bytes; each chunk is requested when the previous one was sent. */
  respondInChunks(headers: Record<string, string | string[]>, length: number, chunks: Iterable<Buffer>): Promise<void>;
  /** Begins a response of unknown length. */
  stream(code: number, headers: Record<string, string | string[]>): ResponseStream;
  /** Responds with 101 and hands over the connection. Undefined if the request does not ask for an upgrade. */
  upgrade(headers: Record<string, string | string[]>): Duplex | undefined;
}

export interface ResponseStream {
  write(chunk: Buffer): void;
  /** `done` is called when everything was sent, or the client disconnected. */
  end(done?: () => void): void;
  /** Closes it without flushing. */
  destroy(): void;
  /** Unsent bytes. */
  readonly pending: number;
  /** Resolves when the written bytes have been sent. */
  drained(): Promise<void>;
}
