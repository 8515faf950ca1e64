import { Backoff } from '../time/backoff.ts';
import { type CallOptions, type ConnectionOptions, GrpcConnection, type StreamOptions } from './grpc-connection.ts';
import { GrpcError, grpcStatus } from './grpc-error.ts';
import type { GrpcStream } from './message-stream.ts';
import type { MessageType } from './message-table.ts';
import { receive } from './receive.ts';

export type GrpcClientOptions = Omit<ConnectionOptions, 'onClose' | 'connectTimeoutMs'> & {
  /** Default 5 s. */
  readonly connectTimeoutMs?: number;
};

/** A unary or streaming method: `package.Service/Method` and its messages. */
export interface Method<Request, Response> {
  readonly name: string;
  readonly request: MessageType<unknown, Request>;
  readonly response: MessageType<Response, unknown>;
}

const BACKOFF = { initialMs: 20, maxMs: 3_000 };

/**
 * A client of one endpoint. Connects on first use and reconnects after a failure; while the server is unreachable, calls fail immediately with
 * `unavailable`, and reconnects back off.
 */
export class GrpcClient implements Disposable {
  readonly #options: GrpcClientOptions;
  readonly #backoff = new Backoff(BACKOFF);
  #connection: GrpcConnection | undefined;
  #retryAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: GrpcClientOptions) {
    this.#options = options;
  }

  get endpoint(): string {
    return this.#options.endpoint;
  }

  async unary<Request, Response>(method: Method<Request, Response>, request: Request, options: CallOptions): Promise<Response> {
    const response = await this.#current().call(method.name, method.request.encode(request), options);
    return method.response.decode(response);
  }

  async *serverStream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: Partial<CallOptions> = {},
  ): AsyncGenerator<Response> {
    const messages = receive(this.#current(), method.name, { ...options, request: method.request.encode(request) });
    for await (const bytes of messages) yield method.response.decode(bytes);
  }

  stream(method: string, options: StreamOptions): GrpcStream {
    return this.#current().stream(method, options);
  }

  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #current(): GrpcConnection {
    if (this.#closed) throw new GrpcError(grpcStatus.cancelled, 'the client was closed', { untouched: true });
    const previous = this.#connection;
    if (previous?.usable === true) return previous;
    if (previous !== undefined) this.#afterFailure(previous);
    this.#connection = new GrpcConnection({ connectTimeoutMs: 5_000, ...this.#options });
    return this.#connection;
  }

  /** A lost connection is reopened immediately, a failed attempt backs off. */
  #afterFailure(connection: GrpcConnection): void {
    const { clock, endpoint } = this.#options;
    if (connection.everConnected) this.#backoff.reset();
    else if (this.#retryAt === Number.NEGATIVE_INFINITY) this.#retryAt = clock.monotonic() + this.#backoff.next();
    if (!connection.everConnected && clock.monotonic() < this.#retryAt) {
      const cause = connection.failure;
      throw new GrpcError(grpcStatus.unavailable, `${endpoint} can not be reached: ${cause?.message ?? 'closed'}`, {
        untouched: true,
        cause,
      });
    }
    this.#retryAt = Number.NEGATIVE_INFINITY;
  }
}
