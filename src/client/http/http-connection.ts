import { ChunkList } from '#base';
/** An HTTP request. */
export interface HttpRequest {
  readonly method: string;
  /** The encoded path with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it arrives. Leaving the loop closes the stream. */
  readonly body: AsyncIterable<Buffer>;
}

/** Requests to one server over a pool of sockets. */
export interface HttpConnection {
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** The server did not process the request: it is safe to retry, whatever the method. */
export class UnprocessedError extends Error {
  override readonly name = 'UnprocessedError';
}

/** At most about `limit` bytes; the rest is discarded. */
export async function readBody(body: AsyncIterable<Buffer>, limit = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks = new ChunkList();
  for await (const chunk of body) {
    chunks.push(chunk);
    if (chunks.bytes >= limit) break;
  }
  return chunks.whole();
}
