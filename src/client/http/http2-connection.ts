import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { type Clock, onAbort, type TimerHandle } from '#base';
import { type HttpConnection, type HttpRequest, type HttpResponse, UnprocessedError } from './http-connection.ts';

export interface Http2Options {
  readonly origin: string;
  /** The socket on which HTTP/2 was negotiated, for the first session. */
  readonly first: TLSSocket;
  /** Opens a TLS socket with HTTP/2 negotiated. */
  connect(): Promise<TLSSocket>;
  readonly clock: Clock;
}

/** An idle session is pinged after this time and closed without a response, as upstream. */
const PING_AFTER_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
/** The stream limit until the server sends its settings. */
const STREAMS_BEFORE_SETTINGS = 100;
/** Node rejects further streams beyond this; many watches with full windows exceed its default of 10. */
const MAX_SESSION_MEMORY_MB = 1024;
const INITIAL_WINDOW = 4 * 1024 * 1024;

/** HTTP/2: requests share a session; another is opened when the server's stream limit is reached. */
export class Http2Connection implements HttpConnection {
  readonly #sessions = new Set<SharedSession>();
  /** Until a session takes it: a request may have been aborted before. */
  #unused: TLSSocket | undefined;
  #opening: Promise<SharedSession> | undefined;
  #isClosed = false;

  constructor(private readonly options: Http2Options) {
    this.#unused = options.first;
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    request.signal?.throwIfAborted();
    const session = await this.#session();
    request.signal?.throwIfAborted();
    return session.send(request);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unused?.destroy();
    await this.#opening?.catch(() => {});
    await Promise.all([...this.#sessions].map((session) => session.close()));
  }

  async #session(): Promise<SharedSession> {
    if (this.#isClosed) throw new Error('the connection was closed');
    for (const session of this.#sessions) if (session.hasRoom) return session;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    const session = await this.#opening;
    return session.hasRoom ? session : this.#session();
  }

  async #open(): Promise<SharedSession> {
    const socket = this.#unused ?? (await this.options.connect());
    this.#unused = undefined;
    const session = new SharedSession(socket, this.options, () => this.#sessions.delete(session));
    this.#sessions.add(session);
    await session.connected;
    return session;
  }
}

class SharedSession {
  readonly #session: ClientHttp2Session;
  readonly #clock: Clock;
  readonly connected: Promise<void>;
  #streams = 0;
  #limit = STREAMS_BEFORE_SETTINGS;
  #isLeaving = false;
  #lastActivityMs = 0;
  #ping: TimerHandle | undefined;

  constructor(socket: TLSSocket, { origin, clock }: Http2Options, ended: () => void) {
    this.#clock = clock;
    this.#session = http2.connect(origin, {
      createConnection: () => socket,
      maxSessionMemory: MAX_SESSION_MEMORY_MB,
      settings: { initialWindowSize: INITIAL_WINDOW, enablePush: false },
    });
    this.connected = new Promise((resolve, reject) => {
      this.#session.once('remoteSettings', ({ maxConcurrentStreams }) => {
        this.#limit = Math.min(maxConcurrentStreams ?? Infinity, 2 ** 31);
        this.#session.setLocalWindowSize(INITIAL_WINDOW);
        resolve();
      });
      this.#session.once('error', reject);
      this.#session.once('close', () => reject(new Error('the server closed the connection')));
    });
    this.connected.catch(() => {});
    this.#session.on('goaway', () => this.#leave(ended));
    this.#session.on('error', () => this.#leave(ended));
    this.#session.on('close', () => this.#leave(ended));
  }

  get hasRoom(): boolean {
    return !this.#isLeaving && !this.#session.closed && !this.#session.destroyed && this.#streams < this.#limit;
  }

  send({ method, target, headers, body, signal }: HttpRequest): Promise<HttpResponse> {
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request({ ...headers, ':method': method, ':path': target }, { endStream: body === undefined });
    } catch (error) {
      return Promise.reject(new UnprocessedError('the session could not take the request', { cause: error }));
    }
    this.#begin(stream);
    const aborted = onAbort(signal, (reason) => stream.destroy(reason instanceof Error ? reason : new Error(String(reason))));
    stream.once('close', () => aborted[Symbol.dispose]());
    if (body !== undefined) stream.end(body);
    return new Promise((resolve, reject) => {
      stream.once('response', (answer) => resolve(answerOf(stream, answer)));
      stream.on('error', (error) => reject(signal?.aborted ? signal.reason : streamError(error, stream)));
      stream.once('close', () => reject(signal?.aborted ? signal.reason : streamError(new Error('the server closed the stream'), stream)));
    });
  }

  async close(): Promise<void> {
    this.#ping?.cancel();
    const closed = new Promise<void>((resolve) => {
      if (this.#session.destroyed) resolve();
      else this.#session.once('close', () => resolve());
    });
    this.#session.destroy();
    await closed;
  }

  #begin(stream: ClientHttp2Stream): void {
    this.#streams++;
    const active = () => {
      this.#lastActivityMs = this.#clock.monotonic();
    };
    active();
    stream.on('response', active);
    stream.on('data', active);
    stream.pause();
    stream.once('close', () => {
      this.#streams--;
      if (this.#streams > 0) return;
      this.#ping?.cancel();
      this.#ping = undefined;
      if (this.#isLeaving) this.#session.close();
    });
    this.#ping ??= this.#clock.setTimer(PING_AFTER_MS, () => this.#checkAlive());
  }

  /** Watches can be idle for long: pings detect a dead server. */
  #checkAlive(): void {
    this.#ping = undefined;
    if (this.#session.destroyed || this.#streams === 0) return;
    const quiet = this.#clock.monotonic() - this.#lastActivityMs;
    if (quiet < PING_AFTER_MS) {
      this.#ping = this.#clock.setTimer(PING_AFTER_MS - quiet, () => this.#checkAlive());
      return;
    }
    const deadline = this.#clock.setTimer(PING_TIMEOUT_MS, () => this.#session.destroy(new Error('http2: client connection lost')));
    this.#session.ping((error) => {
      deadline.cancel();
      if (error || this.#session.destroyed || this.#streams === 0) return;
      this.#ping = this.#clock.setTimer(PING_AFTER_MS, () => this.#checkAlive());
    });
  }

  #leave(ended: () => void): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    ended();
    if (this.#streams === 0) this.#session.close();
  }
}

function answerOf(stream: ClientHttp2Stream, headers: IncomingHttpHeaders): HttpResponse {
  return {
    status: Number(headers[':status']),
    header: (name) => headers[name]?.toString(),
    body: stream,
  };
}

function streamError(error: Error, stream: ClientHttp2Stream): Error {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const isUnprocessed = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM || code === 'ERR_HTTP2_GOAWAY_SESSION';
  return isUnprocessed ? new UnprocessedError(error.message, { cause: error }) : error;
}
