import { lstat, rm } from 'node:fs/promises';
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type Logger, silentLogger } from '../logging/logger.ts';
import { listenOn } from '../net/listen-on.ts';
import { unixSocketPath } from './endpoint.ts';
import { DEFAULT_MAX_MESSAGE_BYTES, FrameReader, frame } from './frames.ts';
import { GrpcError, grpcStatus } from './grpc-error.ts';
import { waitForDrain } from './wait-for-drain.ts';

export interface ServerCall {
  /** Aborts when the client disconnects or cancels. */
  readonly signal: AbortSignal;
  readonly headers: IncomingHttpHeaders;
}

/** Handles the requests of a call and returns its responses. An error other than GrpcError is sent as `unknown`. */
export type MethodHandler = (requests: AsyncIterable<Buffer>, call: ServerCall) => AsyncIterable<Uint8Array>;

export interface MethodEntry {
  readonly name: string;
  readonly handle: MethodHandler;
}

export function unaryMethod<Request, Response>(
  method: ServedMethod<Request, Response>,
  handle: (request: Request, call: ServerCall) => Promise<Response> | Response,
): MethodEntry {
  return streamingMethod(method, async function* (request, call) {
    yield await handle(request, call);
  });
}

/** One request, many responses. */
export function streamingMethod<Request, Response>(
  method: ServedMethod<Request, Response>,
  handle: (request: Request, call: ServerCall) => AsyncIterable<Response>,
): MethodEntry {
  return {
    name: method.name,
    async *handle(requests, call) {
      const request = method.request.decode(await onlyRequest(requests));
      for await (const response of handle(request, call)) yield method.response.encode(response);
    },
  };
}

/** The server's view of a client's `Method`: decodes requests and encodes responses. */
export interface ServedMethod<Request, Response> {
  readonly name: string;
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(value: Response): Buffer };
}

async function onlyRequest(requests: AsyncIterable<Buffer>): Promise<Buffer> {
  let request: Buffer | undefined;
  for await (const bytes of requests) {
    if (request !== undefined) throw new GrpcError(grpcStatus.internal, 'several requests where one is expected');
    request = bytes;
  }
  if (request === undefined) throw new GrpcError(grpcStatus.internal, 'no request');
  return request;
}

export interface GrpcServerOptions {
  /** `unix:///path` or `http://host:port` (port 0: any). */
  readonly endpoint: string;
  readonly methods: readonly MethodEntry[];
  /** Default: 16 MiB. */
  readonly maxMessageBytes?: number;
  readonly logger?: Logger;
}

/** A gRPC server without TLS, for unix sockets and loopback. */
export class GrpcServer implements AsyncDisposable {
  readonly #options: GrpcServerOptions;
  readonly #methods: ReadonlyMap<string, MethodHandler>;
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #calls = new Set<Promise<void>>();

  private constructor(options: GrpcServerOptions) {
    this.#options = options;
    this.#methods = new Map(options.methods.map(({ name, handle }) => [`/${name}`, handle]));
    this.#server = createServer();
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session)).on('error', () => session.destroy());
    });
    this.#server.on('stream', (stream, headers) => this.#accept(stream, headers));
  }

  /** Listens; replaces a stale socket of an earlier server. */
  static async start(options: GrpcServerOptions): Promise<GrpcServer> {
    const server = new GrpcServer(options);
    const { logger = silentLogger } = options;
    const socketPath = unixSocketPath(options.endpoint);
    if (socketPath !== undefined) {
      await removeSocket(socketPath);
      await listenOn(server.#server, { path: socketPath }, logger);
    } else {
      const { hostname, port } = new URL(options.endpoint);
      await listenOn(server.#server, { host: hostname, port: Number(port) }, logger);
    }
    return server;
  }

  /** The clients' endpoint. */
  get endpoint(): string {
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? this.#options.endpoint : `http://${address.address}:${address.port}`;
  }

  /** Ends all calls. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.destroy();
    await closed;
    await Promise.allSettled(this.#calls);
  }

  #accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const call = this.#serve(stream, headers);
    this.#calls.add(call);
    const remove = () => this.#calls.delete(call);
    void call.then(remove, remove);
  }

  /** Never rejects. */
  async #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const ended = new AbortController();
    stream
      .on('error', (error) => ended.abort(error))
      .on('close', () => ended.abort(new GrpcError(grpcStatus.cancelled, 'the client is gone')));
    try {
      const handle = this.#methods.get(headers[':path'] ?? '');
      if (handle === undefined) throw unknownMethod(headers[':path'] ?? '');
      const requests = readMessages(stream, this.#options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES);
      for await (const response of handle(requests, { signal: ended.signal, headers })) await send(stream, response);
      endWith(stream, grpcStatus.ok, '');
    } catch (error) {
      const { status, message } =
        error instanceof GrpcError ? error : { status: grpcStatus.unknown, message: String((error as Error)?.message ?? error) };
      this.#fail(stream, status, message);
    }
  }

  /** The final status of a stream; failures to send it are logged. */
  #fail(stream: ServerHttp2Stream, status: number, message: string): void {
    try {
      endWith(stream, status, message);
    } catch (error) {
      this.#options.logger?.warn('a status could not be sent', { status, error });
      stream.destroy();
    }
  }
}

async function removeSocket(socketPath: string): Promise<void> {
  const stats = await lstat(socketPath).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stats?.isSocket()) await rm(socketPath);
}

function unknownMethod(path: string): GrpcError {
  const [, service = '', method = ''] = path.split('/');
  return new GrpcError(grpcStatus.unimplemented, `unknown method ${method} for service ${service}`);
}

async function* readMessages(stream: ServerHttp2Stream, maxBytes: number): AsyncGenerator<Buffer> {
  const frames = new FrameReader(maxBytes);
  // The stream outlives its requests: the status is sent on it.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield* frames.take(chunk as Buffer);
  if (!frames.isComplete) throw new GrpcError(grpcStatus.internal, 'malformed frame: the last message is cut off');
}

const RESPONSE_HEADERS = { ':status': 200, 'content-type': 'application/grpc' };

async function send(stream: ServerHttp2Stream, message: Uint8Array): Promise<void> {
  if (stream.destroyed) throw new GrpcError(grpcStatus.cancelled, 'the client is gone');
  if (!stream.headersSent) stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
  if (!stream.write(frame(message)) && !stream.destroyed) await waitForDrain(stream);
}

/** In characters: trailers beyond the clients' limit would end the whole connection. */
const MAX_STATUS_TEXT = 1024;

/** Lone surrogates, which have no encoding, are replaced. */
function endWith(stream: ServerHttp2Stream, status: number, message: string): void {
  if (stream.destroyed || stream.closed) return;
  const text = encodeURIComponent(Buffer.from(message.slice(0, MAX_STATUS_TEXT)).toString());
  const trailers = { 'grpc-status': String(status), ...(text !== '' && { 'grpc-message': text }) };
  // Unread requests must not keep the stream open.
  stream.resume();
  if (stream.headersSent) {
    stream.on('wantTrailers', () => {
      if (!stream.destroyed) stream.sendTrailers(trailers);
    });
    stream.end();
  } else stream.respond({ ...RESPONSE_HEADERS, ...trailers }, { endStream: true });
  if (!stream.readableEnded && status !== grpcStatus.ok) stream.close(constants.NGHTTP2_NO_ERROR);
}
