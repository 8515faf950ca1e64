import { type Clock, childSignal, type Logger, TokenBucket, type TokenBucketConfig, withoutTrailing } from '#base';
import { encodeJson, NO_RESOURCE, parseJson, type Status, StatusError, serverResponseError } from '#machinery';
import type { KubeObject } from '../kube-object.ts';
import type { Transport, TransportRequest, WatchSink } from '../transport.ts';
import type { ConnectionConfig } from './connection-config.ts';
import { Credentials } from './credentials.ts';
import { type HttpConnection, type HttpResponse, readBody, UnprocessedError } from './http-connection.ts';
import { openConnection } from './open-connection.ts';
import { LineSplitter } from './watch-lines.ts';

export interface HttpsTransportDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface HttpsTransportOptions {
  /** The program's name and version. Default: sampan. */
  readonly userAgent?: string;
  /** The client-side rate limit. Default: none. */
  readonly rateLimit?: TokenBucketConfig;
}

const MAX_RETRIES = 10;
const CONNECTION_LOST_WAIT_MS = 1000;
/** Error codes of a broken connection. */
const BROKEN: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_HTTP2_STREAM_ERROR',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** A transport over HTTPS: HTTP/2 if the server supports it, with one connection for all requests. */
export function httpsTransport(config: ConnectionConfig, deps: HttpsTransportDeps, options: HttpsTransportOptions = {}): Transport {
  return new HttpsTransport(config, deps, options);
}

class HttpsTransport implements Transport {
  readonly isLocal = false;
  readonly #credentials: Credentials;
  readonly #limiter: TokenBucket | undefined;
  /** Every request without its own signal listens to this one: Node would warn beyond ten listeners. */
  readonly #stop = childSignal();
  readonly #basePath: string;
  #connection: Promise<HttpConnection> | undefined;

  constructor(
    private readonly config: ConnectionConfig,
    private readonly deps: HttpsTransportDeps,
    private readonly options: HttpsTransportOptions,
  ) {
    const url = new URL(config.server);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError(`${config.server} is not an http(s) address`);
    this.#basePath = withoutTrailing(url.pathname, '/');
    this.#credentials = new Credentials(config, deps.clock);
    this.#limiter = options.rateLimit && new TokenBucket(deps.clock, options.rateLimit);
  }

  async request(request: TransportRequest): Promise<unknown> {
    const answer = await this.#send(request);
    return decode(await readBody(answer.body));
  }

  async text(request: TransportRequest): Promise<string> {
    const answer = await this.#send({ ...request, accept: request.accept ?? '*/*' });
    return (await readBody(answer.body)).toString('utf8');
  }

  async *stream(request: TransportRequest): AsyncIterable<Uint8Array> {
    const answer = await this.#send({ ...request, accept: request.accept ?? '*/*' });
    yield* answer.body;
  }

  watch(request: TransportRequest, sink: WatchSink): Disposable {
    const stop = new AbortController();
    let isOver = false;
    const finish = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      stop.abort(new DOMException('the watch was closed', 'AbortError'));
      settle();
    };
    this.#watch(
      { ...request, signal: stop.signal },
      guarded(sink, () => isOver),
    ).then(
      () => finish(() => sink.end()),
      (error: unknown) => finish(() => sink.error(error)),
    );
    return { [Symbol.dispose]: () => finish(() => {}) };
  }

  async #watch(request: TransportRequest, sink: WatchSink): Promise<void> {
    const answer = await this.#send(request);
    const lines = new LineSplitter();
    for await (const chunk of answer.body) lines.push(chunk, (line) => deliver(line, sink));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new DOMException('the transport was closed', 'AbortError'));
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  /** Sends a request; retries according to Retry-After. */
  async #send(request: TransportRequest): Promise<HttpResponse> {
    let isRetried = false;
    for (let attempt = 0; ; attempt++) {
      this.#stop.signal.throwIfAborted();
      await this.#limiter?.take(request.signal);
      const answer = await this.#attempt(request, attempt);
      if (answer === undefined) continue;
      if (request.onWarning) for (const text of warningsIn(answer.header('warning') ?? '')) request.onWarning(text);
      if (answer.status < 400) return answer;
      const failure = await failureOf(answer, request);
      if (answer.status === 401 && !isRetried && this.#credentials.markBadCredentials()) {
        isRetried = true;
        await this.#reconnect();
      } else if (attempt < MAX_RETRIES && isRepeatable(answer)) {
        await this.deps.clock.sleep(Math.max(failure.retryAfterSeconds, 0) * 1000, request.signal);
      } else throw failure;
    }
  }

  /** Undefined when the connection broke and a retry is safe. */
  async #attempt(request: TransportRequest, attempt: number): Promise<HttpResponse | undefined> {
    try {
      const connection = await this.#connect();
      return await connection.send(await this.#httpRequest(request));
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (attempt >= MAX_RETRIES || this.#stop.signal.aborted) throw error;
      if (error instanceof UnprocessedError) return undefined;
      if (request.method !== 'GET' || !BROKEN.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      this.deps.logger.debug('the connection broke; trying again', { path: request.path, error });
      await this.deps.clock.sleep(CONNECTION_LOST_WAIT_MS, request.signal);
      return undefined;
    }
  }

  #connect(): Promise<HttpConnection> {
    this.#connection ??= openConnection(this.config, this.#credentials, this.deps.clock).catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  /** New credentials may include another certificate, which needs a new handshake. */
  async #reconnect(): Promise<void> {
    const old = this.#connection;
    this.#connection = undefined;
    await (await old?.catch(() => undefined))?.close();
  }

  async #httpRequest(request: TransportRequest) {
    const { method, path, query, body, contentType = 'application/json', signal } = request;
    const search = query?.size ? `?${query}` : '';
    const stopped = signal ?? this.#stop.signal;
    return {
      method,
      target: this.#basePath + encodePath(path) + search,
      headers: {
        accept: acceptFor(request),
        'user-agent': this.options.userAgent ?? 'sampan',
        ...(body !== undefined && { 'content-type': contentType }),
        ...(await this.#credentials.headers()),
      },
      body: body === undefined ? undefined : Buffer.from(encodeJson(body)),
      signal: stopped,
    };
  }
}

function acceptFor({ accept, metadataOnly }: TransportRequest): string {
  if (accept !== undefined) return accept;
  if (metadataOnly === undefined) return 'application/json';
  const kind = metadataOnly === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':');
}

function isRepeatable({ status, header }: HttpResponse): boolean {
  return (status === 429 || status >= 500) && header('retry-after') !== undefined;
}

/** The limit of error bodies. */
const MAX_FAILURE_BYTES = 1024 * 1024;

async function failureOf(answer: HttpResponse, { method }: TransportRequest): Promise<StatusError> {
  const text = (await readBody(answer.body, MAX_FAILURE_BYTES)).toString('utf8');
  const retryAfterSeconds = Number(answer.header('retry-after') ?? 0) || 0;
  const status = statusIn(text);
  if (status === undefined) {
    const serverMessage = text.trim() || 'unknown';
    return serverResponseError({
      code: answer.status,
      verb: method,
      resource: NO_RESOURCE,
      name: '',
      serverMessage,
      retryAfterSeconds,
      unexpected: true,
    });
  }
  const details = status.details?.retryAfterSeconds || retryAfterSeconds === 0 ? {} : { details: { ...status.details, retryAfterSeconds } };
  return StatusError.fromStatus({ ...status, code: answer.status, ...details });
}

function statusIn(text: string): Status | undefined {
  try {
    const value = JSON.parse(text) as Partial<Status> | null;
    return value?.kind === 'Status' ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}

const WARNING = /\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

/** The texts of a Warning header: `299 - "text"`, separated by commas. */
export function warningsIn(header: string): readonly string[] {
  return [...header.matchAll(WARNING)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}

const LONG_NUMBER = /\d{16}/;

/** Integers beyond a double's precision stay exact. */
function decode(bytes: Buffer | string): unknown {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('utf8');
  if (text === '') return undefined;
  return LONG_NUMBER.test(text) ? parseJson(text).value : JSON.parse(text);
}

function deliver(line: string, sink: WatchSink): void {
  if (line === '') return;
  const { type, object } = decode(line) as { type: string; object: KubeObject };
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      sink.event(type, object);
      return;
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = object.metadata;
      sink.bookmark(resourceVersion, annotations?.['k8s.io/initial-events-end'] === 'true');
      return;
    }
    default:
      throw StatusError.fromStatus(object as unknown as Partial<Status>);
  }
}

/** Ignores events after disposal. */
function guarded(sink: WatchSink, isOver: () => boolean): WatchSink {
  return {
    event: (type, object) => (isOver() ? undefined : sink.event(type, object)),
    bookmark: (version, initial) => (isOver() ? undefined : sink.bookmark(version, initial)),
    error: sink.error,
    end: sink.end,
  };
}
