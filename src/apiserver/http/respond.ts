import { gzip } from 'node:zlib';
import type { Clock } from '#base';
import { StatusError } from '#machinery';
import { includeObjectOf } from '../printing/table.ts';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse, ListResponse, RawResponse, StatusResponse, StreamResponse } from '../request/api-response.ts';
import { type Negotiated, negotiate } from '../request/negotiation.ts';
import { JSON_TYPE } from '../request/parse-body.ts';
import type { Exchange } from './exchange.ts';
import { ListBody } from './list-body.ts';
import { canEncode, encodeMedia } from './media.ts';
import { type RenderContext, renderList, renderObject, renderPrinted } from './render.ts';
import type { WatchFlushes } from './watch-flush.ts';
import { streamWatch } from './watch-stream.ts';

/** Answers smaller than this are not worth the time to compress. */
const GZIP_FROM_BYTES = 128 * 1024;
/** Longer lists leave piece by piece. Large enough that a write costs little beside its bytes, small enough for many at once. */
const CHUNK_BYTES = 256 * 1024;
const JSON_ONLY: Negotiated = { mediaType: JSON_TYPE, pretty: false };

export interface Responding {
  readonly exchange: Exchange;
  readonly request: ApiRequest;
  readonly clock: Clock;
  readonly headers: Record<string, string | string[]>;
  readonly watchFlushes: WatchFlushes;
}

/** Writes an answer in the form that the client asked for. */
export function respond(response: ApiResponse, to: Responding): void | Promise<void> {
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
      // Once the stream is open, it is too late to refuse.
      if (context.negotiated.as === 'Table') includeObjectOf(to.request.query.get('includeObject'));
      return streamWatch(response, to, context);
    }
    case 'stream':
      return streamBody(response, to);
  }
}

function respondRaw({ code, headers, contentType, body }: RawResponse, to: Responding): void | Promise<void> {
  const all = { ...to.headers, ...headers };
  if (body.length >= GZIP_FROM_BYTES)
    return send({ ...to, headers: all }, code, typeof body === 'string' ? Buffer.from(body) : body, contentType);
  return to.exchange.respond(code, { ...all, 'content-type': contentType }, body);
}

function renderContext({ request, clock }: Responding, custom = false): RenderContext {
  const negotiated = negotiate(request.header('accept'), { custom });
  const pretty = negotiated.pretty || request.query.get('pretty') === 'true' || request.query.get('pretty') === '1';
  return { negotiated: pretty === negotiated.pretty ? negotiated : { ...negotiated, pretty }, query: request.query, now: clock.now() };
}

export function contentTypeOf({ mediaType }: Negotiated): string {
  return mediaType;
}

function respondPlain({ code, object, headers = {}, table }: StatusResponse, to: Responding): void | Promise<void> {
  const context = table && renderContext(to);
  if (context?.negotiated.as !== undefined)
    return send(to, code, renderPrinted(object as unknown as KubeObject, table!, context), contentTypeOf(context.negotiated));
  const wanted = statusNegotiation(to.request);
  const negotiated = canEncode(object, wanted.mediaType, undefined) ? wanted : JSON_ONLY;
  const body = encodeMedia(object, negotiated, undefined);
  to.exchange.respond(code, { ...to.headers, ...headers, 'content-type': negotiated.mediaType }, body);
}

/** A failure is told even to clients that accept nothing we have. */
function statusNegotiation(request: ApiRequest): Negotiated {
  try {
    const { mediaType, pretty } = negotiate(request.header('accept'));
    return { mediaType, pretty };
  } catch {
    return JSON_ONLY;
  }
}

function respondList(list: ListResponse, to: Responding): void | Promise<void> {
  const context = renderContext(to, list.resource.custom);
  const body = renderList(list, context);
  const contentType = contentTypeOf(context.negotiated);
  if (!(body instanceof ListBody)) return send(to, 200, body, contentType);
  if (body.length <= CHUNK_BYTES || acceptsGzip(to.request)) return send(to, 200, body.whole(), contentType);
  return to.exchange.respondInChunks(
    { ...to.headers, 'content-type': contentType },
    body.length,
    body.chunks(Buffer.allocUnsafe(CHUNK_BYTES)),
  );
}

function send(to: Responding, code: number, body: Buffer, contentType: string): void | Promise<void> {
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

async function streamBody({ code, contentType, body }: StreamResponse, { exchange, headers }: Responding): Promise<void> {
  const stream = exchange.stream(code, { ...headers, 'content-type': contentType });
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

function addWarnings({ request, headers }: Responding): void {
  if (request.warnings.length === 0) return;
  headers.warning = request.warnings.map((warning) => `299 - "${headerText(warning)}"`);
}

function headerText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: headers cannot carry them
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/["\\]/g, (char) => `\\${char}`);
}

export function statusResponse(error: unknown): StatusResponse {
  const failure = StatusError.from(error);
  const headers = failure.retryAfterSeconds > 0 ? { 'retry-after': String(failure.retryAfterSeconds) } : {};
  return { type: 'plain', code: failure.code, object: { ...failure.status }, headers };
}
