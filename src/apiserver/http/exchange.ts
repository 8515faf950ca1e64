import type { ClientCertificate } from '../request/api-request.ts';
import type { HeaderLine } from '../request/header-lines.ts';

/** One HTTP request and its answer, over HTTP/1.1 or HTTP/2. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly remoteAddress: string;
  readonly clientCertificate: ClientCertificate | undefined;
  header(name: string): string | undefined;
  /** Every line whose name begins with `prefix`, in the order they came. */
  headerLines(prefix: string): readonly HeaderLine[];
  /** The whole body. Rejects with a StatusError (413) beyond `limit`. */
  readBody(limit: number): Promise<Buffer>;
  /** Calls back once when the client goes away before the answer is complete. */
  onAbandoned(callback: () => void): void;
  /** Has nothing more to do with the client, whatever it still means to send. */
  abandon(): void;
  /** Sends a complete answer. */
  respond(code: number, headers: Record<string, string | string[]>, body: Buffer | string): void;
  /** Sends a complete answer (code 200) of `length` bytes, asking for each chunk when the one before has left. */
  respondInChunks(headers: Record<string, string | string[]>, length: number, chunks: Iterable<Buffer>): Promise<void>;
  /** Begins an answer whose length is not known. */
  stream(code: number, headers: Record<string, string | string[]>): ResponseStream;
}

export interface ResponseStream {
  write(chunk: Buffer): void;
  end(): void;
  /** Bytes that wait for the client. */
  readonly pending: number;
  /** Resolves when what was written has left. */
  drained(): Promise<void>;
}
