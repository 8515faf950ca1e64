import type { Clock, Random, TimerHandle } from '#base';
import type { KubeObject as ClientObject, WatchSink as ClientSink, Transport, TransportRequest } from '#client';
import { apiVersionOf, isRecurring, NO_RESOURCE, type Status, StatusError, serverResponseError } from '#machinery';
import type { UserInfo } from './authn/user.ts';
import type { ApiRequest, RequestBody } from './request/api-request.ts';
import type { ApiResponse, Handler, ListResponse, WatchResponse } from './request/api-response.ts';
import { parseRequestInfo, type RequestInfo, selectedName } from './request/request-info.ts';
import type { WatchSink } from './watch-cache/watcher.ts';

export interface InProcessOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The name of the program, as it would stand in the User-Agent header. */
  readonly userAgent?: string;
}

/**
 * The server's chain as a client's transport: the same identity, rules and answers as over the network, without a socket and without
 * encoding. Objects that it hands out are the server's own, and immutable.
 */
export function inProcessTransport(handle: Handler, user: UserInfo, options: InProcessOptions): Transport {
  return new InProcessTransport(handle, user, options);
}

class InProcessTransport implements Transport {
  readonly isLocal = true;
  readonly #stop = new AbortController();
  readonly #watches = new Set<InProcessWatch>();

  constructor(
    private readonly handle: Handler,
    private readonly user: UserInfo,
    private readonly options: InProcessOptions,
  ) {}

  async request(request: TransportRequest): Promise<unknown> {
    const response = await this.#send(request);
    switch (response.type) {
      case 'object':
        return response.object.object;
      case 'list':
        return listObject(response);
      case 'plain':
        if (response.code >= 400) throw StatusError.fromStatus(response.object as Partial<Status>);
        return response.object;
      case 'raw':
        return rawObject(response.code, response.body);
      default:
        throw new TypeError(`${request.method} ${request.path} answers with a stream`);
    }
  }

  async text(request: TransportRequest): Promise<string> {
    const response = await this.#send(request);
    if (response.type === 'raw') {
      if (response.code >= 400) throw plainFailure(response.code, String(response.body));
      return response.body.toString();
    }
    if (response.type === 'stream') return readAll(response.body);
    return JSON.stringify(await this.#objectOf(response));
  }

  async *stream(request: TransportRequest): AsyncIterable<Uint8Array> {
    const response = await this.#send(request);
    if (response.type === 'stream') yield* response.body;
    else if (response.type === 'raw' && response.code < 400) yield Buffer.from(response.body);
    else throw new TypeError(`${request.method} ${request.path} does not answer with a stream`);
  }

  watch(request: TransportRequest, sink: ClientSink): Disposable {
    const watch = new InProcessWatch(sink, this.options.clock, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    this.#send(request).then(
      (response) => watch.open(response, request.query?.has('timeoutSeconds') ?? false),
      (error: unknown) => watch.fail(error),
    );
    return watch;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new DOMException('the transport was closed', 'AbortError'));
    for (const watch of this.#watches) watch[Symbol.dispose]();
  }

  async #objectOf(response: ApiResponse): Promise<unknown> {
    if (response.type === 'object') return response.object.object;
    return response.type === 'list' ? listObject(response) : response.type === 'plain' ? response.object : undefined;
  }

  async #send(request: TransportRequest): Promise<ApiResponse> {
    request.signal?.throwIfAborted();
    this.#stop.signal.throwIfAborted();
    const sent = new InProcessRequest(request, this.user, this.options);
    try {
      return await this.handle(sent);
    } catch (error) {
      throw StatusError.from(error);
    } finally {
      if (request.onWarning) sent.warnings.forEach(request.onWarning);
    }
  }
}

/** A request by a caller in this process. */
class InProcessRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly body: RequestBody;
  readonly remoteAddress = '127.0.0.1';
  readonly warnings: string[] = [];
  readonly user: UserInfo;
  #auditId: string | undefined;
  readonly #random: Random;
  readonly #signal: AbortSignal | undefined;
  readonly #userAgent: string;
  readonly #accept: string;

  constructor({ method, path, query, body, contentType, accept, signal }: TransportRequest, user: UserInfo, options: InProcessOptions) {
    this.method = method;
    this.path = path;
    this.query = query ?? new URLSearchParams();
    const watch = this.query.get('watch') === 'true';
    this.info = parseRequestInfo({ method, path, watch, selectedName: selectedName(this.query.get('fieldSelector')) });
    this.body = { type: 'object', value: withoutUndefined(body), contentType: contentType ?? 'application/json' };
    this.#random = options.random;
    this.user = user;
    this.#signal = signal;
    this.#userAgent = options.userAgent ?? 'sampan';
    this.#accept = accept ?? 'application/json';
  }

  header(name: string): string | undefined {
    switch (name.toLowerCase()) {
      case 'user-agent':
        return this.#userAgent;
      case 'content-type':
        return this.body.contentType;
      case 'accept':
        return this.#accept;
      default:
        return undefined;
    }
  }

  /** Made when somebody asks, which hardly anybody does. */
  get auditId(): string {
    this.#auditId ??= this.#random.uuid();
    return this.#auditId;
  }

  get signal(): AbortSignal {
    return this.#signal ?? new AbortController().signal;
  }
}

/** One watch: from the question until it is closed by either side. */
class InProcessWatch implements Disposable {
  #isOver = false;
  #stop: (() => void) | undefined;
  #timeout: TimerHandle | undefined;

  constructor(
    private readonly sink: ClientSink,
    private readonly clock: Clock,
    private readonly ended: () => void,
  ) {}

  open(response: ApiResponse, isLimited: boolean): void {
    if (this.#isOver) return;
    if (response.type !== 'watch') {
      const isRefused = response.type === 'plain' && response.code >= 400;
      this.fail(
        isRefused ? StatusError.fromStatus(response.object as Partial<Status>) : new TypeError('the server did not answer with a watch'),
      );
      return;
    }
    // The server's own limit spreads clients over servers; within one process there is nothing to spread.
    if (isLimited) this.#timeout = this.clock.setTimer(response.timeoutMs, () => this.#end(() => this.sink.end()));
    const stop = response.open(this.#serverSink(response));
    if (this.#isOver) stop();
    else this.#stop = stop;
  }

  fail(error: unknown): void {
    this.#end(() => this.sink.error(error));
  }

  [Symbol.dispose](): void {
    this.#end(() => {});
  }

  #serverSink({ resource }: WatchResponse): WatchSink {
    return {
      frame: ({ type, object }) => {
        if (!this.#isOver && type !== 'BOOKMARK') this.sink.event(type, object.as(resource).object as ClientObject);
      },
      bookmark: (revision, initialEventsEnd) => {
        if (!this.#isOver) this.sink.bookmark(String(revision), initialEventsEnd);
      },
      error: (error) => this.fail(error),
      end: (reason) =>
        reason === 'expired' ? this.fail(StatusError.expired('the server lost track of changes')) : this.#end(() => this.sink.end()),
    };
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timeout?.cancel();
    this.#stop?.();
    this.ended();
    tell();
  }
}

function listObject({ resource, items, revision, continue: next, remaining }: ListResponse): object {
  const metadata = {
    resourceVersion: String(revision),
    ...(next && { continue: next }),
    ...(remaining && { remainingItemCount: remaining }),
  };
  return { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata, items: items.map((item) => item.object) };
}

function rawObject(code: number, body: Buffer | string): unknown {
  const text = body.toString();
  if (code >= 400) throw plainFailure(code, text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function plainFailure(code: number, text: string): StatusError {
  const serverMessage = text.trim() || 'unknown';
  return serverResponseError({ code, verb: '', resource: NO_RESOURCE, name: '', serverMessage, retryAfterSeconds: 0, unexpected: true });
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Members that are undefined do not exist in JSON. Returns the value itself when it has none, which is the rule. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isRecurring(value)) return value;
  return Array.isArray(value) ? definedItems(value) : definedMembers(value as Record<string, unknown>);
}

function definedItems(items: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const item = withoutUndefined(items[i]) ?? null;
    if (item === items[i]) continue;
    copy ??= [...items];
    copy[i] = item;
  }
  return copy ?? items;
}

function definedMembers(object: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key in object) {
    const member = withoutUndefined(object[key]);
    if (member === object[key] && member !== undefined) continue;
    copy ??= { ...object };
    if (member === undefined) delete copy[key];
    else copy[key] = member;
  }
  return copy ?? object;
}
