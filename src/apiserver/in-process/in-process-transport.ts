import { type Clock, type TimerHandle, TurnBudget } from '#base';
import {
  type KubeObject as ClientObject,
  type WatchSink as ClientSink,
  LineSplitter,
  type Transport,
  type TransportRequest,
} from '#client';
import { apiVersionOf, copyMembers, encodeJson, isRecurring, type JsonValue, type Status, StatusError } from '#machinery';
import type { ApiResponse, Handler, ListResponse, StreamResponse, WatchResponse } from '../handlers/api-response.ts';
import type { ApiRequest, AuditContext, FlowIdentity, RequestBody } from '../request/api-request.ts';
import { parseRequestInfo, type RequestInfo, selectedName } from '../request/request-info.ts';
import type { UserInfo } from '../request/user.ts';
import { convertingSink } from '../watch-cache/converting-sink.ts';
import { cacheReloadedError, type WatchSink } from '../watch-cache/watcher.ts';
import { MAX_RESPONSE_BYTES, plainFailure, rawObject, readAll, streamedFailure, streamedObject } from './response-body.ts';

export interface InProcessOptions {
  readonly clock: Clock;
  /** The program's name, as in a User-Agent header. */
  readonly userAgent?: string;
}

/**
 * The server's filter chain as a client transport: the same identity, rules and responses as over the network, without sockets and
 * encoding. Objects are shared with the server, and immutable.
 */
export function inProcessTransport(handle: Handler, user: UserInfo, options: InProcessOptions): Transport {
  return new InProcessTransport(handle, user, options);
}

class InProcessTransport implements Transport {
  readonly isLocal = true;
  readonly #stop = new AbortController();
  readonly #watches = new Set<InProcessWatch>();
  readonly #turn: TurnBudget;

  constructor(
    private readonly handle: Handler,
    private readonly user: UserInfo,
    private readonly options: InProcessOptions,
  ) {
    this.#turn = new TurnBudget(options.clock);
  }

  async request(request: TransportRequest): Promise<unknown> {
    const { response, finish } = await this.#open(request);
    // An aggregated server's response is streamed.
    if (response.type === 'stream') return streamedObject(response.code, await readAll(finishing(response.body, finish)));
    finish();
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
    const { response, finish } = await this.#open(request);
    if (response.type === 'stream') return readAll(finishing(response.body, finish));
    finish();
    if (response.type === 'raw') {
      if (response.code >= 400) throw plainFailure(response.code, String(response.body));
      return response.body.toString();
    }
    return encodeJson(await this.#objectOf(response));
  }

  async *stream(request: TransportRequest): AsyncIterable<Uint8Array> {
    const { response, finish } = await this.#open(request);
    if (response.type === 'stream') return yield* finishing(response.body, finish);
    finish();
    if (response.type === 'raw' && response.code < 400) yield Buffer.from(response.body);
    else throw new TypeError(`${request.method} ${request.path} does not answer with a stream`);
  }

  watch(request: TransportRequest, sink: ClientSink): Disposable {
    let finished: (() => void) | undefined;
    const watch = new InProcessWatch(sink, this.options.clock, () => {
      this.#watches.delete(watch);
      finished?.();
    });
    this.#watches.add(watch);
    this.#open(request)
      .then(({ response, finish }) => {
        finished = finish;
        watch.open(response, request.query?.has('timeoutSeconds') ?? false);
      })
      .catch((error: unknown) => watch.fail(error));
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

  /** The response, and a callback for its end. */
  async #open(request: TransportRequest): Promise<OpenResponse> {
    request.signal?.throwIfAborted();
    this.#stop.signal.throwIfAborted();
    // An in-memory store responds without yielding to the event loop.
    if (this.#turn.isSpent) await this.#turn.next();
    const sent = new InProcessRequest(request, this.user, this.options);
    try {
      const response = await this.handle(sent);
      return { response, finish: () => sent.finish('code' in response ? response.code : 200) };
    } catch (error) {
      const failure = StatusError.from(error);
      sent.finish(failure.code);
      throw failure;
    } finally {
      if (request.onWarning) sent.warnings.forEach(request.onWarning);
    }
  }
}

interface OpenResponse {
  readonly response: ApiResponse;
  readonly finish: () => void;
}

async function* finishing(body: AsyncIterable<Uint8Array>, finish: () => void): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } finally {
    finish();
  }
}

/** An in-process request. */
class InProcessRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly body: RequestBody;
  readonly remoteAddress = '127.0.0.1';
  readonly warnings: string[] = [];
  readonly isLocal = true;
  readonly user: UserInfo;
  audit?: AuditContext;
  flow?: FlowIdentity;
  readonly #callbacks: ((code: number) => void)[] = [];
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

  onFinished(callback: (code: number) => void): void {
    this.#callbacks.push(callback);
  }

  /** Idempotent. */
  finish(code: number): void {
    for (const callback of this.#callbacks.splice(0)) callback(code);
  }

  get signal(): AbortSignal {
    return this.#signal ?? new AbortController().signal;
  }
}

/** One watch, until either side closes it. */
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
    if (this.#isOver) {
      this.ended();
      return;
    }
    if (response.type === 'stream') {
      void this.#follow(response).catch((error: unknown) => this.fail(error));
      return;
    }
    if (response.type !== 'watch') {
      this.fail(watchFailure(response));
      return;
    }
    // The server's watch timeout balances clients over servers; in-process clients do not need it.
    if (isLimited) this.#timeout = this.clock.setTimer(response.timeoutMs, () => this.#end(() => this.sink.end()));
    const { resource } = response;
    const serverSink = this.#serverSink(response);
    const sink = resource.remote === undefined ? serverSink : convertingSink(resource, serverSink, response.matchesConverted);
    const { backlog, initialEventsEnd, stop } = response.open(sink);
    if (this.#isOver) {
      stop();
      return;
    }
    this.#stop = stop;
    // Synchronous, so that no later event comes first.
    for (const frame of backlog) sink.frame(frame);
    if (initialEventsEnd !== undefined) sink.bookmark(initialEventsEnd, true);
  }

  /** Events of an aggregated API, parsed from its stream. */
  async #follow({ code, body }: StreamResponse): Promise<void> {
    if (code >= 400) return this.fail(streamedFailure(code, await readAll(body)));
    const lines = new LineSplitter(MAX_RESPONSE_BYTES);
    for await (const chunk of body) {
      lines.push(Buffer.from(chunk), (line) => this.#deliver(line));
      // Leaving the loop closes the connection.
      if (this.#isOver) return;
    }
    this.#end(() => this.sink.end());
  }

  #deliver(line: string): void {
    if (this.#isOver || line === '') return;
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: ClientObject };
    if (type === 'ERROR') this.fail(StatusError.fromStatus(object as Partial<Status>));
    else if (type === 'BOOKMARK') {
      const { resourceVersion = '', annotations } = object.metadata;
      this.sink.bookmark(resourceVersion, annotations?.['k8s.io/initial-events-end'] === 'true');
    } else this.sink.event(type as 'ADDED', object);
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
      end: (reason) => (reason === 'expired' ? this.fail(cacheReloadedError()) : this.#end(() => this.sink.end())),
    };
  }

  #end(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timeout?.cancel();
    this.#stop?.();
    this.ended();
    settle();
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

function watchFailure(response: ApiResponse): Error {
  if (response.type === 'plain' && response.code >= 400) return StatusError.fromStatus(response.object as Partial<Status>);
  if (response.type === 'raw' && response.code >= 400) return plainFailure(response.code, String(response.body));
  return new TypeError('the server did not answer with a watch');
}

/** JSON has no undefined members. Returns the value itself if there are none, which is usual. */
function withoutUndefined(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || isRecurring(value)) return value;
  if (depth > MAX_CALLS) return copyMembers(value as JsonValue, (member) => member !== undefined);
  return Array.isArray(value) ? definedItems(value, depth + 1) : definedMembers(value as Record<string, unknown>, depth + 1);
}

/** The recursion limit; an object of 10,000 levels would overflow the stack. */
const MAX_CALLS = 500;

function definedItems(items: readonly unknown[], depth: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const item = withoutUndefined(items[i], depth) ?? null;
    if (item === items[i]) continue;
    copy ??= [...items];
    copy[i] = item;
  }
  return copy ?? items;
}

function definedMembers(object: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key in object) {
    const member = withoutUndefined(object[key], depth);
    if (member === object[key] && member !== undefined) continue;
    copy ??= { ...object };
    if (member === undefined) delete copy[key];
    else copy[key] = member;
  }
  return copy ?? object;
}
