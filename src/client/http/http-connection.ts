/** One request, as it goes over the network. */
export interface HttpRequest {
  readonly method: string;
  /** Encoded, with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it comes. Leaving the loop closes the exchange. */
  readonly body: AsyncIterable<Buffer>;
}

/** Requests to one server, over as many sockets as they need. */
export interface HttpConnection {
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** The server did not process the request: it can be sent again, whatever it was. */
export class UnprocessedError extends Error {
  override readonly name = 'UnprocessedError';
}

export async function readBody(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
