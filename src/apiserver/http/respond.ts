import { createGzip, gzip } from 'node:zlib';
import { type Clock, duplexPair } from '#base';
import { StatusError } from '#machinery';
import type { ApiResponse, ListResponse, RawResponse, StatusResponse, StreamResponse, UpgradeResponse } from '../handlers/api-response.ts';
import { includeObjectOf } from '../printing/table.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { canEncode, encodeMedia } from '../request/media.ts';
import { type NegotiatedFormat, negotiate } from '../request/negotiation.ts';
import { JSON_TYPE } from '../request/parse-body.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { Exchange } from './exchange.ts';
import { written } from './http1-exchange.ts';
import type { ListBody } from './list-body.ts';
import type { PendingFrames } from './pending-frames.ts';
import { ProtobufListBody } from './protobuf-list-body.ts';
import type { ProtobufMessages } from './protobuf-messages.ts';
import { type RenderContext, renderList, renderObject, renderPrinted } from './render.ts';
import type { SharedStates } from './shared-states.ts';
import { TextListBody } from './text-list-body.ts';
import { warningHeaders } from './warning-headers.ts';
import type { WatchFlushes } from './watch-flush.ts';
import { streamWatch } from './watch-stream.ts';

/** Smaller responses are not compressed. */
const GZIP_FROM_BYTES = 128 * 1024;
/** Longer lists are sent in chunks: large enough to amortize a write, small enough for many concurrent responses. */
const CHUNK_BYTES = 256 * 1024;
const JSON_ONLY: NegotiatedFormat = { mediaType: JSON_TYPE, pretty: false };

export interface ResponseContext {
  readonly exchange: Exchange;
  readonly request: ApiRequest;
  readonly clock: Clock;
  readonly headers: Record<string, string | string[]>;
  readonly watchFlushes: WatchFlushes;
  readonly pendingFrames: PendingFrames;
  readonly sharedStates: SharedStates;
  readonly messages: ProtobufMessages;
}

/** Writes a response in the negotiated form. */
export function respond(response: ApiResponse, to: ResponseContext): void | Promise<void> {
  addWarnings(to);
  switch (response.type) {
    case 'raw':
      return respondRaw(response, to);
    case 'plain':
      return respondPlain(response, to);
    case 'object': {
      const context = renderContext(to, response.resource.custom);
      return send(to, response.code, renderObject(response, context), contentTypeOf(context.negotiated));
    }
    case 'list':
      return respondList(response, to);
    case 'watch': {
      const context = renderContext(to, response.resource.custom);
      // Once the stream is open, errors cannot be reported.
      if (context.negotiated.as === 'Table') includeObjectOf(to.request.query.get('includeObject'));
      return streamWatch(response, to, context);
    }
    case 'stream':
      return streamBody(response, to);
    case 'upgrade':
      return upgradeConnection(response, to);
  }
}

function respondRaw({ code, headers, contentType, body }: RawResponse, to: ResponseContext): void | Promise<void> {
  const all = { ...to.headers, ...headers };
  if (body.length >= GZIP_FROM_BYTES)
    return send({ ...to, headers: all }, code, typeof body === 'string' ? Buffer.from(body) : body, contentType);
  return to.exchange.respond(code, { ...all, 'content-type': contentType }, body);
}

function renderContext({ request, clock, messages }: ResponseContext, custom = false): RenderContext {
  const negotiated = negotiate(request.header('accept'), { custom });
  return { negotiated: withPretty(negotiated, request), query: request.query, now: clock.now(), messages };
}

const GO_TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
/** Clients used by people get indented JSON by default. */
const READ_BY_PEOPLE = ['curl', 'Wget', 'Mozilla/5.0'];

function withPretty(negotiated: NegotiatedFormat, request: ApiRequest): NegotiatedFormat {
  const pretty = negotiated.pretty || isPretty(request);
  return pretty === negotiated.pretty ? negotiated : { ...negotiated, pretty };
}

function isPretty(request: ApiRequest): boolean {
  const pretty = request.query.get('pretty');
  if (pretty) return GO_TRUE.has(pretty);
  const userAgent = request.header('user-agent') ?? '';
  return READ_BY_PEOPLE.some((prefix) => userAgent.startsWith(prefix));
}

export function contentTypeOf({ mediaType }: NegotiatedFormat): string {
  return mediaType;
}

function respondPlain({ code, object, headers = {}, table }: StatusResponse, to: ResponseContext): void | Promise<void> {
  const context = table && renderContext(to);
  if (context?.negotiated.as !== undefined)
    return send(to, code, renderPrinted(object as unknown as KubeObject, table!, context), contentTypeOf(context.negotiated));
  const negotiation = statusNegotiation(to.request);
  const negotiated = canEncode(object, negotiation.mediaType, undefined) ? negotiation : JSON_ONLY;
  const body = encodeMedia(object, negotiated, undefined);
  to.exchange.respond(code, { ...to.headers, ...headers, 'content-type': negotiated.mediaType }, body);
}

/** Errors are sent even to clients that accept none of our types. */
function statusNegotiation(request: ApiRequest): NegotiatedFormat {
  try {
    const { mediaType, pretty } = negotiate(request.header('accept'));
    return withPretty({ mediaType, pretty }, request);
  } catch {
    return withPretty(JSON_ONLY, request);
  }
}

function respondList(list: ListResponse, to: ResponseContext): void | Promise<void> {
  const context = renderContext(to, list.resource.custom);
  const body = renderList(list, context);
  const contentType = contentTypeOf(context.negotiated);
  if (Buffer.isBuffer(body)) return send(to, 200, body, contentType);
  if (body instanceof TextListBody) return sendText(to, body, contentType);
  const measured = body instanceof ProtobufListBody ? body.measure() : undefined;
  return measured === undefined ? sendList(to, body, contentType) : measured.then(() => sendList(to, body, contentType));
}

/** A long list is never in memory as a whole, compressed or not. */
function sendList(to: ResponseContext, body: ListBody | ProtobufListBody, contentType: string): void | Promise<void> {
  if (body.length <= CHUNK_BYTES) return send(to, 200, body.whole(), contentType);
  const headers = { ...to.headers, 'content-type': contentType };
  if (acceptsGzip(to.request)) return streamGzip(to.exchange, headers, body);
  return to.exchange.respondInChunks(headers, body.length, body.chunks(Buffer.allocUnsafe(CHUNK_BYTES)));
}

/** Short lists are sent at once with Content-Length; longer ones chunk by chunk. */
function sendText(to: ResponseContext, body: TextListBody, contentType: string): void | Promise<void> {
  const chunks = body.chunks();
  const first = chunks.next();
  const second = first.done ? first : chunks.next();
  if (first.done || second.done) return send(to, 200, first.done ? Buffer.alloc(0) : first.value, contentType);
  const parts = concatenated([first.value, second.value], chunks);
  if (acceptsGzip(to.request)) return streamGzip(to.exchange, { ...to.headers, 'content-type': contentType }, { chunks: () => parts });
  return streamBody({ type: 'stream', code: 200, contentType, body: inTurns(parts) }, to);
}

function* concatenated(first: readonly Buffer[], rest: Iterable<Buffer>): Generator<Buffer> {
  yield* first;
  yield* rest;
}

async function* inTurns(parts: Iterable<Buffer>): AsyncGenerator<Buffer> {
  for (const part of parts) {
    yield part;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A body that is generated while it is sent. */
interface ChunkedBody {
  chunks(buffer: Buffer): Iterable<Buffer>;
}

async function streamGzip(exchange: Exchange, headers: ResponseContext['headers'], body: ChunkedBody): Promise<void> {
  const packed = createGzip({ level: 1, chunkSize: CHUNK_BYTES });
  const stream = exchange.stream(200, { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  exchange.onAbandoned(() => packed.destroy());
  packed.on('data', (chunk: Buffer) => {
    stream.write(chunk);
    if (stream.pending <= CHUNK_BYTES) return;
    packed.pause();
    void stream.drained().then(() => packed.resume());
  });
  packed.on('error', () => exchange.abandon());
  const ended = new Promise<void>((resolve) => packed.once('close', () => resolve()));
  for (const chunk of body.chunks(Buffer.allocUnsafe(CHUNK_BYTES))) if (!(await written(packed, chunk))) return;
  packed.end();
  await ended;
  if (!packed.errored) stream.end();
}

function send(to: ResponseContext, code: number, body: Buffer, contentType: string): void | Promise<void> {
  const { exchange, request, headers } = to;
  headers['content-type'] = contentType;
  if (body.length < GZIP_FROM_BYTES || !acceptsGzip(request)) return exchange.respond(code, headers, body);
  return new Promise((resolve, reject) => {
    gzip(body, { level: 1 }, (error, packed) => {
      if (error) return reject(error);
      exchange.respond(code, { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }, packed);
      resolve();
    });
  });
}

function acceptsGzip(request: ApiRequest): boolean {
  return /\bgzip\b/.test(request.header('accept-encoding') ?? '');
}

async function upgradeConnection(response: UpgradeResponse, { exchange, headers }: ResponseContext): Promise<void> {
  const connection = exchange.upgrade({ ...headers, ...response.headers });
  if (connection === undefined) {
    // The peer has already upgraded: it sees the close.
    const { near, far } = duplexPair();
    near.destroy();
    await response.serve(far);
    throw StatusError.badRequest('Upgrade request required');
  }
  try {
    await response.serve(connection);
  } finally {
    connection.destroy();
  }
}

async function streamBody(
  { code, contentType, body, headers: own }: StreamResponse,
  { exchange, headers }: ResponseContext,
): Promise<void> {
  const all = { ...headers, ...(own as Record<string, string | string[]> | undefined) };
  const stream = exchange.stream(code, contentType === '' ? all : { ...all, 'content-type': contentType });
  let abandoned = false;
  exchange.onAbandoned(() => {
    abandoned = true;
  });
  for await (const chunk of body) {
    if (abandoned) break;
    stream.write(Buffer.from(chunk));
    await stream.drained();
  }
  stream.end();
}

function addWarnings({ request, headers }: ResponseContext): void {
  if (request.warnings.length > 0) headers.warning = [...warningHeaders(request.warnings)];
}

export function statusResponse(error: unknown): StatusResponse {
  const failure = StatusError.from(error);
  const headers = failure.retryAfterSeconds > 0 ? { 'retry-after': String(failure.retryAfterSeconds) } : {};
  return { type: 'plain', code: failure.code, object: { ...failure.status }, headers };
}
